"""People for tests: the three stills, and invented ones mixed from them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray
from PIL import Image

from mien.faces.analyser import FaceAnalyser
from support.puppet import OVAL, Array, Puppet, canonical_face, head_placement, make_puppet, with_surroundings
from support.render import Placement, mesh_map, over

Pixels = NDArray[np.uint8]

STILLS = Path(__file__).parents[1] / "stills"
NAMES = ("astronaut", "grace_hopper", "luispedro")
"""The stills: a woman with a smile; an old woman with glasses and a hat; a man in three-quarter view."""


@cache
def analyser() -> FaceAnalyser:
    """One analyser for all who make test material."""
    return FaceAnalyser(device="cpu", precision="fp32")


def picture(name: str) -> Pixels:
    """A still as (height, width, 3) RGB."""
    path = next(STILLS.glob(f"{name}.*"))
    with Image.open(path) as image:
        return np.asarray(image.convert("RGB"))


@cache
def still(name: str) -> Puppet:
    """The puppet of a still."""
    return puppet_of(name, picture(name))


@cache
def stranger(name: str) -> Puppet:
    """The puppet of an invented person."""
    return puppet_of(name, invented(name))


def puppet_of(name: str, image: Pixels) -> Puppet:
    """The puppet of the largest face in a picture (height, width, 3) RGB."""
    face = analyser().find(image)[0]
    return make_puppet(name, image, face.landmarks, analyser().person_mask(image))


@dataclass(frozen=True, slots=True, kw_only=True)
class Proportions:
    """Changes of a face's build; 0 = none, .2 = by a fifth or so."""

    nose_length: float = 0.0
    nose_width: float = 0.0
    jaw_width: float = 0.0
    chin_length: float = 0.0
    eye_size: float = 0.0
    eye_distance: float = 0.0
    mouth_width: float = 0.0
    face_length: float = 0.0

    def apply(self, face: Array) -> Array:
        """The face (n, 3) in canonical cm (y down) with other proportions; rows 0-467 are the mesh's."""
        build, points = canonical_face(), face.copy()
        if len(face) > len(build):  # the irises go with the middles of the eyes
            build = np.concatenate([build, np.repeat(build[[159, 386]], 5, axis=0)])
        points += _pull(build, build[1], 2.2, [0, 2.4 * self.nose_length, -1.0 * self.nose_length])
        points[:, 0] += self.nose_width * 1.6 * build[:, 0] * _near(build, build[2], 1.9)
        below = np.clip((build[:, 1] - build[4, 1]) / (build[152, 1] - build[4, 1]), 0, 1)
        points[:, 0] += self.jaw_width * below * build[:, 0]
        points[:, 1] += self.chin_length * 4.0 * np.clip(build[:, 1] - build[17, 1], 0, None) / 4.0
        for eye, side in ((build[[33, 133]].mean(0), -1), (build[[362, 263]].mean(0), 1)):
            points += self.eye_size * (build - eye) * _near(build, eye, 2.4)[:, None]
            points += _pull(build, eye, 2.6, [side * 3.0 * self.eye_distance, 0, 0])
        points[:, 0] += self.mouth_width * build[:, 0] * _near(build, build[[13, 14]].mean(0), 2.8)
        points[:, 1] *= 1 + self.face_length
        return points


def _near(points: Array, centre: Array, reach: float) -> Array:
    """1 at `centre`, falling as a Gaussian of `reach` cm."""
    return np.exp(-(((points - centre) / reach) ** 2).sum(1))


def _pull(points: Array, centre: Array, reach: float, by: list[float]) -> Array:
    return _near(points, centre, reach)[:, None] * np.array(by)


@dataclass(frozen=True, slots=True, kw_only=True)
class Invention:
    """How an invented person is made."""

    base: str
    """The still that gives hair, clothes, pose and background."""
    shape: Mapping[str, float] = field(default_factory=dict[str, float])
    """Share of other stills in the face's shape; the rest is the base's."""
    skin: Mapping[str, float] = field(default_factory=dict[str, float])
    """Share of other stills in what the skin looks like; the rest is the base's."""
    proportions: Proportions = field(default_factory=Proportions)
    tone: tuple[float, float, float] = (1.0, 1.0, 1.0)
    """Gains of red, green, blue of the person."""
    mirrored: bool = False


INVENTED: Mapping[str, Invention] = {
    "ada": Invention(
        base="astronaut",
        shape={"luispedro": 0.3},
        skin={"luispedro": 0.65},
        proportions=Proportions(
            nose_length=0.33, nose_width=0.12, jaw_width=0.16, eye_distance=-0.14, mouth_width=-0.12, face_length=0.03
        ),
        tone=(0.85, 0.76, 0.74),
    ),
    "boris": Invention(
        base="luispedro",
        shape={"astronaut": 0.5},
        skin={"astronaut": 0.6},
        proportions=Proportions(nose_width=-0.13, chin_length=0.2, eye_size=0.16, eye_distance=0.14, jaw_width=0.06),
        tone=(0.68, 0.6, 0.6),
        mirrored=True,
    ),
    "clara": Invention(
        base="astronaut",
        shape={"luispedro": 0.7},
        skin={"luispedro": 0.45},
        proportions=Proportions(
            nose_width=0.25, jaw_width=0.23, chin_length=0.29, eye_distance=-0.1, mouth_width=0.1, face_length=0.07
        ),
        tone=(0.62, 0.5, 0.44),
        mirrored=True,
    ),
    "dan": Invention(
        base="luispedro",
        shape={"astronaut": 0.75},
        skin={"astronaut": 0.65},
        proportions=Proportions(
            nose_length=-0.15, nose_width=0.25, chin_length=0.15, eye_size=0.19, mouth_width=-0.18, jaw_width=0.1
        ),
        tone=(1.0, 0.93, 0.9),
    ),
    "eva": Invention(
        base="grace_hopper",
        shape={"astronaut": 0.5},
        skin={"astronaut": 0.9},
        proportions=Proportions(
            nose_length=0.17, nose_width=-0.19, chin_length=0.11, eye_size=0.12, mouth_width=-0.17, face_length=0.07
        ),
        tone=(0.9, 0.85, 0.78),
    ),
    "finn": Invention(
        base="luispedro",
        shape={"grace_hopper": 0.77},
        skin={"grace_hopper": 0.87},
        proportions=Proportions(
            nose_length=-0.25, nose_width=0.32, chin_length=0.17, eye_size=0.12, eye_distance=-0.14, mouth_width=0.2
        ),
        tone=(0.8, 0.74, 0.68),
        mirrored=True,
    ),
}
"""People who are not in the stills: the identity network puts each of them more than .55 from all three."""

_BARE_BELOW = {"astronaut": 107, "grace_hopper": 118, "luispedro": 10}
"""The mesh point below which a still shows no hair, hat or glasses."""


@cache
def invented(name: str) -> Pixels:
    """The picture (height, width, 3) RGB of one of `INVENTED`."""
    plan = INVENTED[name]
    base = still(plan.base)
    vertices = base.vertices + with_surroundings(_reshaped(base, plan) - base.landmarks)
    height, width = base.picture.shape[:2]

    toned = base.picture.copy()
    toned[..., :3] = np.clip(toned[..., :3] * np.array(plan.tone), 0, 255).astype(np.uint8)
    there = Placement(1.0, (0.0, 0.0))
    lookup = mesh_map(there, base.vertices[:, :2], vertices, base.triangles, (width, height))
    person = cv2.remap(toned, lookup, None, cv2.INTER_CUBIC, borderMode=cv2.BORDER_REPLICATE)
    whole = over(base.plate, np.ascontiguousarray(person[..., :3]), person[..., 3].astype(np.float32) / 255)
    for other, share in plan.skin.items():
        whole = _mix_skin(whole, vertices, still(other), share)

    margin = (width - picture(plan.base).shape[1]) // 2
    whole = whole[:, margin : width - margin]
    return np.ascontiguousarray(whole[:, ::-1] if plan.mirrored else whole)


def _reshaped(base: Puppet, plan: Invention) -> Array:
    """Landmarks (478, 3) in the base's picture of the face that `plan` describes."""
    own = _upright(base)
    mixed = own + sum(share * (_upright(still(other)) - own) for other, share in plan.shape.items())
    return base.landmarks + (plan.proportions.apply(mixed) - own) @ base.rotation.T * base.scale


def _upright(puppet: Puppet) -> Array:
    """(478, 3) landmarks in canonical cm, without pose."""
    _, scale = head_placement(puppet.landmarks)
    face = (puppet.landmarks - puppet.landmarks[:468].mean(0)) @ puppet.rotation / scale
    return face + canonical_face().mean(0)


def _mix_skin(whole: Pixels, vertices: Array, other: Puppet, share: float) -> Pixels:
    """`whole` with `share` of another's skin in its face, where the other still shows it."""
    height, width = whole.shape[:2]
    outside = Placement(1.0, (-1e4, -1e4))
    face_triangles = other.triangles[(other.triangles < 478).all(1)]
    lookup = mesh_map(outside, other.vertices[:, :2], vertices, face_triangles, (width, height))
    drawn = cv2.remap(other.picture, lookup, None, cv2.INTER_CUBIC, borderMode=cv2.BORDER_REPLICATE)[..., :3]

    soft = 0.05 * float(np.ptp(vertices[OVAL, 0]))
    weight = _shown(other, vertices, face_triangles, (width, height), soft) * share
    certain = weight > 0.5 * share
    skin = drawn.astype(np.float32)
    for channel in range(3):
        mine, theirs = whole[..., channel][certain], skin[..., channel][certain]
        contrast = mine.std() / max(theirs.std(), 1.0)
        skin[..., channel] = (skin[..., channel] - theirs.mean()) * min(contrast, 1.3) + mine.mean()
    return over(whole, np.clip(skin, 0, 255).astype(np.uint8), weight.astype(np.float32))


def _shown(
    other: Puppet, vertices: Array, triangles: NDArray[np.int64], size: tuple[int, int], soft: float
) -> NDArray[np.float32]:
    """0..1: how well the other still shows bare skin for each part of the face as it lies in `vertices`."""
    corners = other.vertices[triangles]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    facing = np.clip((normals[:, 2] / np.linalg.norm(normals, axis=1) - 0.25) / 0.35, 0, 1)
    build = canonical_face()
    top = build[_BARE_BELOW[other.name], 1]
    bare = np.clip((build[triangles, 1].mean(1) - top) / 1.0, 0, 1)
    inner = 1 - np.isin(triangles, OVAL).any(1)
    shown = np.zeros((size[1], size[0]), np.float32)
    weights = facing * bare * inner
    for points, weight in zip(np.round(vertices[triangles, :2]).astype(np.int32), weights.tolist(), strict=True):
        cv2.fillConvexPoly(shown, points, weight)
    return cv2.GaussianBlur(shown, (0, 0), soft)

"""Test clips with ground truth, made from stills by really deforming them.

A `Scene` holds actors (puppets with a motion, farthest first), a backdrop, an occluder, light and grain. A `Clip` is
one scene or several with cuts between them; `clip[i]` renders frame i and says where everything is:

    clip = Clip(talking_head(still("grace_hopper"), width=640, height=360, seconds=2))
    frame = clip[10]
    frame.picture, frame.faces[0].landmarks, frame.faces[0].pose

Everything is a function of the frame's number: rendering is repeatable and frames can be had in any order.
Curves are functions of the time in seconds.
"""

from __future__ import annotations

import bisect
import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from pathlib import Path

import av
import cv2
import numpy as np
from numpy.typing import NDArray

from mien.faces.face import Pose
from support import render
from support.puppet import EYES, INNER_LIPS, OVAL, Array, Expression, Puppet, angles, rotation
from support.render import Placement

Curve = Callable[[float], float]
Pixels = NDArray[np.uint8]


def constant(value: float) -> Curve:
    """Always `value`."""
    return lambda _t: value


_ZERO, _HALF, _ONE = constant(0.0), constant(0.5), constant(1.0)


def wave(amplitude: float, period: float, *, phase: float = 0.0, offset: float = 0.0) -> Curve:
    """`offset` plus a sine of `amplitude`; `period` in seconds, `phase` in periods."""
    return lambda t: offset + amplitude * math.sin(2 * math.pi * (t / period + phase))


def ramp(first: float, last: float, start: float, end: float) -> Curve:
    """From `first` to `last` between the times `start` and `end`, straight."""
    return lambda t: first + (last - first) * min(max((t - start) / (end - start), 0.0), 1.0)


def pulses(times: Sequence[float], duration: float, height: float = 1.0) -> Curve:
    """Smooth bumps of `duration` seconds around each of `times`; blinks take about 0.3 s."""

    def curve(t: float) -> float:
        return height * max((math.cos(math.pi * min(abs(t - at) / duration * 2, 1)) + 1) / 2 for at in times)

    return curve


@dataclass(frozen=True, slots=True, kw_only=True)
class Motion:
    """What an actor does over time."""

    yaw: Curve = _ZERO
    """Degrees, added to the still's own pose; signs as `mien.faces.face.Pose`."""
    pitch: Curve = _ZERO
    roll: Curve = _ZERO
    sway: Curve = _ZERO
    """Shift of the head over the shoulders to the right, in face widths."""
    bob: Curve = _ZERO
    """Shift of the head over the shoulders downwards, in face widths."""
    x: Curve = _HALF
    """Middle of the face (before turning) as a fraction of the frame's width."""
    y: Curve = _HALF
    """Middle of the face (before turning) as a fraction of the frame's height."""
    zoom: Curve = _ONE
    """Factor on the actor's size."""
    blink: Curve = _ZERO
    """See `Expression`."""
    mouth: Curve = _ZERO
    smile: Curve = _ZERO

    def turn(self, t: float) -> Array:
        """(3,) yaw, pitch, roll in degrees."""
        return np.array([self.yaw(t), self.pitch(t), self.roll(t)])


@dataclass(frozen=True, slots=True, kw_only=True)
class Light:
    """Light over time, in linear light, on the whole frame."""

    gain: Curve = _ONE
    warmth: Curve = _ZERO
    """Red up and blue down by this share."""
    side: Curve = _ZERO
    """-1..1: the right edge is brighter, the left one darker by this share."""

    def gains(self, t: float, width: int) -> NDArray[np.float32]:
        """(1, width, 3) factors."""
        tint = np.array([1 + self.warmth(t), 1, 1 - self.warmth(t)], np.float32) * self.gain(t)
        across = 1 + self.side(t) * np.linspace(-1, 1, width, dtype=np.float32)
        return (across[:, None] * tint)[None].astype(np.float32)


@dataclass(frozen=True, slots=True, kw_only=True)
class Occluder:
    """A sprite moving in front of everybody."""

    sprite: Pixels
    """(h, w, 4) RGB and coverage; see `support.props`."""
    x: Curve
    """Middle as a fraction of the frame's width."""
    y: Curve
    """Middle as a fraction of the frame's height."""
    size: float = 0.6
    """Height as a fraction of the frame's height."""
    angle: Curve = _ZERO
    """Degrees clockwise."""

    def draw(self, t: float, size: tuple[int, int]) -> tuple[Pixels, NDArray[np.float32]]:
        """The sprite in a frame of `size` (width, height): RGB and coverage 0..1."""
        height, width = self.sprite.shape[:2]
        scale = self.size * size[1] / height
        turn = np.radians(self.angle(t))
        matrix = scale * np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]])
        centre = np.array([self.x(t) * size[0], self.y(t) * size[1]])
        affine = np.column_stack([matrix, centre - matrix @ [width / 2, height / 2] - 0.5 + matrix @ [0.5, 0.5]])
        drawn = cv2.warpAffine(self.sprite, affine, size, flags=cv2.INTER_LINEAR)
        return drawn[..., :3], drawn[..., 3].astype(np.float32) / 255


@dataclass(frozen=True, slots=True)
class Actor:
    """A puppet on the stage."""

    puppet: Puppet
    motion: Motion = field(default_factory=Motion)
    size: float = 0.45
    """Width of the face as a fraction of the frame's height."""

    def placement(self, t: float, size: tuple[int, int], picture_scale: float = 1.0) -> Placement:
        """Where the puppet's picture, resized by `picture_scale`, lies in a frame of `size` (width, height)."""
        scale = self.size * self.motion.zoom(t) * size[1] / self.puppet.face_width
        centre = np.array([self.motion.x(t) * size[0], self.motion.y(t) * size[1]])
        offset = centre - scale * self.puppet.centre
        return Placement(scale / picture_scale, (float(offset[0]), float(offset[1])))


@dataclass(frozen=True, slots=True)
class FaceTruth:
    """Where a face really is."""

    name: str
    landmarks: NDArray[np.float32] | None
    """(478, 3) pixels of the frame, z on the same scale; None where less than a tenth of the face is to be seen."""
    pose: Pose
    """Of the head, in degrees."""
    blink: float
    """0 = eyes as in the still, 1 = closed."""
    mouth: float
    """0 = as in the still, 1 = wide open."""
    visible: float
    """0..1: share of the face's area inside the frame and not covered by others."""


@dataclass(frozen=True, slots=True)
class RenderedFrame:
    """A frame and the truth about it."""

    index: int
    time_s: float
    scene: int
    """Number of the scene; it changes at a cut."""
    picture: Pixels
    """(height, width, 3) RGB."""
    faces: tuple[FaceTruth, ...]
    """One for each actor, in the scene's order."""
    occluder: NDArray[np.float32] | None
    """(height, width) 0..1: what the occluder covers."""


@dataclass(frozen=True, kw_only=True)
class Scene:
    """One shot."""

    width: int
    height: int
    actors: tuple[Actor, ...]
    """Farthest first: later ones hide earlier ones."""
    frames: int
    rate: Fraction = Fraction(25)
    backdrop: Pixels | None = None
    """(height, width, 3) or larger (the middle is used); None: the first actor's own background."""
    pan: Curve = _ZERO
    """Shift of a backdrop to the right, as a fraction of the frame's width."""
    occluder: Occluder | None = None
    light: Light | None = None
    noise: float = 0.0
    """Standard deviation of the camera's noise in 8-bit levels."""

    @property
    def size(self) -> tuple[int, int]:
        """Width and height."""
        return self.width, self.height

    def render(self, index: int) -> tuple[Pixels, tuple[FaceTruth, ...], NDArray[np.float32] | None]:
        """Picture, faces and occluder mask of frame `index` of this scene."""
        t = float(index / self.rate)
        picture = self._draw_backdrop(t)
        layers: list[_Layer] = []
        for actor, resized in zip(self.actors, self._resized, strict=True):
            body, layer = self._draw(actor, resized, t)
            picture = render.over(picture, body, layer.coverage)
            layers.append(layer)
        mask = None
        if self.occluder is not None:
            sprite, mask = self.occluder.draw(t, self.size)
            picture = render.over(picture, sprite, mask)
        if self.light is not None:
            picture = render.shade(picture, self.light.gains(t, self.width))
        if self.noise:
            picture = render.grain(picture, self.noise, index)
        return picture, self._faces(layers, mask, t), mask

    @cached_property
    def _resized(self) -> list[tuple[Puppet, float]]:
        """Each actor's puppet with a picture of about the size it is shown at."""
        scales = [actor.placement(0, self.size).scale / actor.motion.zoom(0) for actor in self.actors]
        return [(actor.puppet.resized(scale), scale) for actor, scale in zip(self.actors, scales, strict=True)]

    @cached_property
    def _stage(self) -> Pixels:
        """The backdrop at rest, with a margin of a quarter of the frame on each side."""
        margin_x, margin_y = self.width // 4, self.height // 4
        if self.backdrop is not None:
            top, left = (self.backdrop.shape[0] - self.height) // 2, (self.backdrop.shape[1] - self.width) // 2
            middle = self.backdrop[top : top + self.height, left : left + self.width]
            return cv2.copyMakeBorder(middle, margin_y, margin_y, margin_x, margin_x, cv2.BORDER_REFLECT_101)
        puppet, scale = self._resized[0]
        place = self.actors[0].placement(0, self.size, scale)
        matrix = np.array([[place.scale, 0, place.offset[0] + margin_x], [0, place.scale, place.offset[1] + margin_y]])
        whole = (self.width + 2 * margin_x, self.height + 2 * margin_y)
        return cv2.warpAffine(puppet.plate, matrix, whole, borderMode=cv2.BORDER_REFLECT_101)

    def _draw_backdrop(self, t: float) -> Pixels:
        shift = np.array([[1, 0, self.pan(t) * self.width - self.width // 4], [0, 1, -(self.height // 4)]], float)
        return cv2.warpAffine(self._stage, shift, self.size, borderMode=cv2.BORDER_REFLECT_101)

    def _draw(self, actor: Actor, resized: tuple[Puppet, float], t: float) -> tuple[Pixels, _Layer]:
        """The actor on an empty frame, and where."""
        puppet, scale = resized
        place = actor.placement(t, self.size, scale)
        motion = actor.motion
        expression = Expression(motion.blink(t), motion.mouth(t), motion.smile(t))
        shift = np.array([motion.sway(t), motion.bob(t)])
        target = place.to_frame(puppet.pose(expression, motion.turn(t), shift))
        drawn = self._remap(puppet, place, target)
        body = cv2.cvtColor(drawn, cv2.COLOR_RGBA2RGB)
        if expression.blink > 0:
            # Lids slide over eyeballs, which stay as they are.
            awake = place.to_frame(puppet.pose(replace(expression, blink=0.0), motion.turn(t), shift))
            eyes = cv2.cvtColor(self._remap(puppet, place, awake), cv2.COLOR_RGBA2RGB)
            for outline in EYES:
                render.look_through(body, eyes, target[outline, :2], expression.blink)
        if expression.mouth > 0:
            lips, moved = puppet.vertices[INNER_LIPS, :2], target[INNER_LIPS, :2]
            render.open_mouth(body, puppet.picture, lips, moved, expression.mouth)
        return body, _Layer(actor, target, cv2.extractChannel(drawn, 3).astype(np.float32) / 255)

    def _remap(self, puppet: Puppet, place: Placement, target: Array) -> Pixels:
        """The puppet's picture with its vertices at `target`, RGB and coverage."""
        step = max(1, round(puppet.face_width * place.scale / 200))
        lookup = render.mesh_map(place, puppet.vertices[:, :2], target, puppet.triangles, self.size, step)
        return cv2.remap(puppet.picture, lookup, None, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)

    def _faces(self, layers: Sequence[_Layer], mask: NDArray[np.float32] | None, t: float) -> tuple[FaceTruth, ...]:
        """The truth about each layer's face, knowing what nearer actors and the occluder cover."""
        clear = np.ones((self.height, self.width), np.float32) if mask is None else 1 - mask
        faces: list[FaceTruth] = []
        for layer in reversed(layers):
            outline = layer.vertices[OVAL, :2]
            area = cv2.contourArea(outline.astype(np.float32))
            visible = min(float((render.polygon_mask(outline, self.size) * clear).sum()) / area, 1.0)
            faces.append(layer.face(t, visible))
            clear = clear * (1 - layer.coverage)
        return tuple(reversed(faces))


@dataclass(frozen=True, slots=True)
class _Layer:
    """An actor as drawn in one frame."""

    actor: Actor
    vertices: Array
    """(n, 3) pixels of the frame."""
    coverage: NDArray[np.float32]
    """(height, width) 0..1."""

    def face(self, t: float, visible: float) -> FaceTruth:
        puppet, motion = self.actor.puppet, self.actor.motion
        return FaceTruth(
            name=puppet.name,
            landmarks=self.vertices[:478].astype(np.float32) if visible >= 0.1 else None,
            pose=Pose(*angles(rotation(motion.turn(t)) @ puppet.rotation).tolist()),
            blink=motion.blink(t),
            mouth=motion.mouth(t),
            visible=visible,
        )


class Clip(Sequence[RenderedFrame]):
    """One scene, or several of one size and rate with cuts between them."""

    def __init__(self, *scenes: Scene) -> None:
        if len({(scene.size, scene.rate) for scene in scenes}) != 1:
            raise ValueError("the scenes of a clip have one size and one rate")
        self.scenes = scenes
        self._starts = [0, *itertools.accumulate(scene.frames for scene in scenes)]

    @property
    def size(self) -> tuple[int, int]:
        """Width and height."""
        return self.scenes[0].size

    @property
    def rate(self) -> Fraction:
        """Frames a second."""
        return self.scenes[0].rate

    @property
    def cuts(self) -> list[int]:
        """The first frame of each scene but the first."""
        return self._starts[1:-1]

    def __len__(self) -> int:
        return self._starts[-1]

    def __getitem__(self, index: int) -> RenderedFrame:  # type: ignore[override]
        if not 0 <= index < len(self):
            raise IndexError(f"a clip of {len(self)} frames has no frame {index}")
        scene = bisect.bisect_right(self._starts, index) - 1
        picture, faces, occluder = self.scenes[scene].render(index - self._starts[scene])
        return RenderedFrame(index, float(index / self.rate), scene, picture, faces, occluder)

    def pictures(self) -> Iterator[Pixels]:
        """The frames' pictures, rendered one at a time."""
        return (frame.picture for frame in self)


def beep(seconds: float, rate: int = 48000) -> NDArray[np.float32]:
    """Mono sound (n,) -1..1: a soft tone with a beep each second."""
    t = np.arange(round(seconds * rate)) / rate
    soft = 0.03 * np.sin(2 * np.pi * 220 * t)
    return (soft + 0.15 * np.sin(2 * np.pi * 880 * t) * (t % 1 < 0.08)).astype(np.float32)


def write_clip(
    clip: Clip,
    path: Path,
    *,
    codec: str = "libx264",
    pixel_format: str = "yuv420p",
    options: dict[str, str] | None = None,
    sound: NDArray[np.float32] | None = None,
    sound_codec: str = "aac",
) -> Path:
    """Encode a clip.

    Args:
        clip: what to write.
        path: its suffix chooses the container.
        codec: an encoder of FFmpeg.
        pixel_format: of the encoder.
        options: of the encoder, such as `{"crf": "18"}`.
        sound: mono (n,) -1..1 at 48 kHz, see `beep`; None for a silent file.
        sound_codec: an encoder of FFmpeg.
    """
    with av.open(str(path), "w") as container:
        video = container.add_stream(codec, rate=clip.rate, options=options or {})
        video.width, video.height = clip.size
        video.pix_fmt = pixel_format
        audio = None if sound is None else container.add_stream(sound_codec, rate=48000, layout="mono")
        for picture in clip.pictures():
            container.mux(video.encode(av.VideoFrame.from_ndarray(picture, format="rgb24")))
        container.mux(video.encode())
        if audio is not None and sound is not None:
            samples = av.AudioFrame.from_ndarray(sound[None], format="fltp", layout="mono")
            samples.sample_rate = 48000
            container.mux(audio.encode(samples))
            container.mux(audio.encode())
    return path

"""Material and helpers for tests of whole jobs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import av
import cv2
import numpy as np
from numpy.typing import NDArray
from PIL import Image

from mien.faces.face import Face
from mien.recipe import Recipe
from support.animate import Clip, Scene, beep, write_clip
from support.people import STILLS, analyser, picture, still
from support.scenes import crossing, talking_head

Pixels = NDArray[np.uint8]

ASTRONAUT = str(STILLS / "astronaut.png")
HOPPER = str(STILLS / "grace_hopper.jpg")
LUIS = str(STILLS / "luispedro.jpg")


def talking_clip(path: Path, *, seconds: float, sound: bool = False, **encoding: object) -> Path:
    """Grace Hopper talks, 480x270 at 25 frames a second, a keyframe every 20 frames."""
    options = {"options": {"g": "20", "crf": "16", "preset": "veryfast"}, **encoding}
    scene = talking_head(still("grace_hopper"), width=480, height=270, seconds=seconds)
    return write_clip(Clip(scene), path, sound=beep(seconds) if sound else None, **options)  # type: ignore[arg-type]


def crossing_clip(path: Path, seconds: float) -> Path:
    """Luis walks from right to left behind Grace Hopper, who walks from left to right."""
    scene: Scene = crossing(still("grace_hopper"), still("luispedro"), width=640, height=360, seconds=seconds)
    return write_clip(Clip(scene), path, options={"crf": "14", "preset": "veryfast"})


def remux(source: Path, target: Path, options: dict[str, str], *, rotation: int = 0) -> Path:
    """The packets of a file in another one, with options for its container and a tag that turns the picture.

    Args:
        source: file to read.
        target: file to write.
        options: of the container.
        rotation: degrees counter-clockwise by which a player turns the picture.
    """
    with av.open(str(source)) as reader, av.open(str(target), "w", options=options) as writer:
        streams = {stream.index: writer.add_stream_from_template(stream) for stream in reader.streams}
        if rotation:
            writer.streams.video[0].set_display_rotation(rotation)
        for packet in reader.demux():
            if packet.dts is not None:
                packet.stream = streams[packet.stream.index]
                writer.mux(packet)
    return target


def turned_clip(path: Path, seconds: float) -> Path:
    """Grace Hopper talks, stored lying on her side with a tag that turns her upright."""
    lying = path.with_name("lying.mp4")
    scene = talking_head(still("grace_hopper"), width=360, height=360, seconds=seconds)
    with av.open(str(lying), "w") as container:
        stream = container.add_stream("libx264", rate=25, options={"crf": "16", "preset": "veryfast"})
        stream.width, stream.height, stream.pix_fmt = 360, 360, "yuv420p"
        for upright in Clip(scene).pictures():
            stored = np.ascontiguousarray(np.rot90(upright, -1))
            container.mux(stream.encode(av.VideoFrame.from_ndarray(stored, format="rgb24")))
        container.mux(stream.encode())
    return remux(lying, path, {}, rotation=90)


def couple(path: Path, height: int = 300) -> Path:
    """A picture of two people side by side: Grace Hopper on the left, Luis on the right."""
    halves = []
    for name in ("grace_hopper", "luispedro"):
        pixels = picture(name)
        width = round(pixels.shape[1] * height / pixels.shape[0])
        halves.append(cv2.resize(pixels, (width, height), interpolation=cv2.INTER_AREA))
    Image.fromarray(np.hstack(halves)).save(path)
    return path


def landscape(path: Path, size: tuple[int, int] = (320, 180)) -> Path:
    """A picture without a face."""
    columns, rows = np.meshgrid(np.linspace(0, 1, size[0]), np.linspace(0, 1, size[1]))
    pixels = np.stack([90 + 60 * rows, 140 + 40 * columns, 200 - 90 * rows], axis=2)
    Image.fromarray(pixels.astype(np.uint8)).save(path)
    return path


def faces_in(pixels: Pixels) -> list[Face]:
    """The faces of a picture from left to right."""
    return sorted(analyser().find(pixels), key=lambda face: float(face.box[0]))


def identities(pixels: Pixels) -> NDArray[np.float32]:
    """(n, 128) embeddings of the faces of a picture from left to right."""
    return analyser().embed(pixels, faces_in(pixels))


def identity(path: str | Path) -> NDArray[np.float32]:
    """(128,) embedding of the largest face of a picture."""
    pixels = rgb(path)
    return analyser().embed(pixels, analyser().find(pixels)[:1])[0]


def distance(one: NDArray[np.float32], other: NDArray[np.float32]) -> float:
    """Identity distance."""
    return float(np.linalg.norm(one - other))


def rgb(path: str | Path) -> Pixels:
    """A picture as RGB."""
    with Image.open(path) as image:
        return np.asarray(image.convert("RGB"))


def video_frames(path: str | Path) -> list[Pixels]:
    """All frames of a video as RGB."""
    with av.open(str(path)) as container:
        return [frame.to_ndarray(format="rgb24") for frame in container.decode(video=0)]


def planes(path: str | Path) -> Iterator[list[NDArray[np.uint16]]]:
    """The stored planes of every frame of a planar YUV video."""
    with av.open(str(path)) as container:
        for frame in container.decode(video=0):
            bytes_each = 1 if frame.format.components[0].bits <= 8 else 2
            kind = np.uint8 if bytes_each == 1 else np.dtype("<u2")
            yield [
                np.frombuffer(plane, kind).reshape(plane.height, -1)[:, : plane.width].astype(np.uint16)
                for plane in frame.planes
            ]


def packets(path: str | Path) -> list[tuple[int, int | None, int | None, bytes]]:
    """Stream, time stamps and content of every packet of a file."""
    with av.open(str(path)) as container:
        return [(packet.stream_index, packet.pts, packet.dts, bytes(packet)) for packet in container.demux()]


def job(target: str | Path, output: Path, **options: object) -> Recipe:
    """The astronaut's face onto `target`, without marks, which are in all of a frame."""
    fields = {"target": str(target), "output": str(output), "sources": [ASTRONAUT], "marks": "none"}
    return Recipe.from_mapping({**fields, **options})


def talking_job(material: Path, output: Path, **options: object) -> Recipe:
    """The astronaut's face onto the talking clip, in segments of about a second."""
    return job(material / "talking.mp4", output, **{"segment_seconds": 1, **options})


def grown(box: NDArray[np.float32], by: float) -> tuple[slice, slice]:
    """Rows and columns of a face's box grown by a part of its size on each side."""
    left, top, right, bottom = (float(edge) for edge in box)
    width, height = by * (right - left), by * (bottom - top)
    return (
        slice(max(int(top - height), 0), int(bottom + height) + 1),
        slice(max(int(left - width), 0), int(right + width) + 1),
    )

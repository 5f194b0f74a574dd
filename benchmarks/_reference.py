"""What the field's tool does to a clip, as a plain loop: every network on every frame, float32, one item at a time.

Written from the facts of its contracts; nothing in it is clever. Detector and landmarker run on every frame, but with
random weights what they say means nothing: where the face is comes from outside.
"""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any

import av
import cv2
import numpy as np
from av.video.reformatter import Colorspace, Interpolation
from numpy.typing import NDArray

Array = NDArray[Any]
Pixels = NDArray[np.uint8]
"""Blue, green, red (height, width, 3)."""

NETWORKS = ("yoloface_8n", "2dfan4", "arcface_w600k_r50", "fairface", "inswapper_128")
ARCFACE_112 = np.array(
    [[38.2946, 51.6963], [73.5318, 51.5014], [56.0252, 71.7366], [41.5493, 92.3655], [70.7299, 92.2041]]
)
"""Where a recogniser's crop of 112 pixels has the five points."""
ARCFACE_128 = (ARCFACE_112 + np.array([8, 0])) / 128
"""Where a swapper's crop has them, of its side."""
HD = Colorspace.ITU709
EXACT = Interpolation.BICUBIC | Interpolation.ACCURATE_RND | Interpolation.FULL_CHR_H_INT
"""Without it colours are off by one or two levels, and faces that are compared would be as well."""
CODING = {"preset": "veryfast", "crf": "1"}
"""The field's tool's preset, finer than its crf of 10: faces are compared, not what the encoder leaves of them."""


def reference(
    began: float, models: str, picture: str, clip: str, points: str, output: str, frames: str
) -> dict[str, Any]:
    """Swap the first `frames` of a clip.

    Args:
        began: `time.monotonic()` when the process was started.
        models: Folder of the networks.
        picture: Of the source.
        clip: The target.
        points: JSON file: five points (5, 2) of the `source`, and of each of the `frames`.
        output: Video to write.
        frames: How many.
    """
    places = json.loads(Path(points).read_text())
    swapper = Loop(Path(models))
    source = swapper.embed(cv2.imread(picture), np.array(places["source"]))
    done: list[tuple[int, float, float]] = []
    with av.open(clip) as reader, av.open(output, "w") as writer:
        video = reader.streams.video[0]
        encoder = writer.add_stream("libx264", rate=video.average_rate, options=CODING)
        encoder.width, encoder.height, encoder.pix_fmt = video.width, video.height, "yuv420p"
        for frame, face in zip(reader.decode(video), places["frames"][: int(frames)], strict=False):
            swapped = swapper.swap(read_pixels(frame), np.array(face), source)
            written = av.VideoFrame.from_ndarray(swapped, format="bgr24")
            writer.mux(encoder.encode(written.reformat(format="yuv420p", dst_colorspace=HD, interpolation=EXACT)))
            done.append((len(done) + 1, time.monotonic() - began, time.process_time()))
        writer.mux(encoder.encode())
    return {"first_frame_s": done[0][1], "done": done, "model_s": swapper.seconds}


def read_pixels(frame: av.VideoFrame) -> Pixels:
    """A frame of HD video."""
    return frame.reformat(format="bgr24", src_colorspace=HD, interpolation=EXACT).to_ndarray()


class Loop:
    """The networks and what is done with them."""

    def __init__(self, models: Path) -> None:
        os.environ["ORT_DISABLE_TELEMETRY"] = "1"
        import onnxruntime

        self.seconds = 0.0
        """In the networks so far."""
        self._sessions = {
            name: onnxruntime.InferenceSession(str(models / f"{name}.onnx"), providers=["CPUExecutionProvider"])
            for name in NETWORKS
        }
        self._emap = _last_weight(models / "inswapper_128.onnx")

    def embed(self, image: Pixels, points: Array) -> Array:
        """(512,) of the face at five points."""
        crop, _ = cut(image, points, ARCFACE_112 / 112, 112)
        values = crop[..., ::-1].astype(np.float32) / 127.5 - 1
        return self._run("arcface_w600k_r50", input=_planes(values))

    def swap(self, image: Pixels, points: Array, source: Array) -> Pixels:
        """A frame with the source's face at five points; all networks are asked."""
        self._run("yoloface_8n", input=detector_view(image))
        self._run("2dfan4", input=landmarker_view(image, points))
        self.embed(image, points)
        self._classify(image, points)
        crop, matrix = cut(image, points, ARCFACE_128, 128)
        vector = source @ self._emap / np.linalg.norm(source)
        target = _planes(crop[..., ::-1].astype(np.float32) / 255)
        swapped = self._run("inswapper_128", target=target, source=vector[None].astype(np.float32))
        face = np.clip(swapped.transpose(1, 2, 0), 0, 1)[..., ::-1] * 255
        return paste(image, face, box_mask(128), matrix)

    def _classify(self, image: Pixels, points: Array) -> None:
        crop, _ = cut(image, points, ARCFACE_112 / 112, 224)
        values = (crop[..., ::-1].astype(np.float32) / 255 - [0.485, 0.456, 0.406]) / [0.229, 0.224, 0.225]
        self._run("fairface", input=_planes(values))

    def _run(self, name: str, **inputs: Array) -> Array:
        """The first output of one item."""
        began = time.perf_counter()
        output = self._sessions[name].run(None, inputs)[0][0]
        self.seconds += time.perf_counter() - began
        return output


def cut(image: Pixels, points: Array, template: Array, size: int) -> tuple[Pixels, Array]:
    """The crop that brings five points onto a template, and its matrix from the picture."""
    matrix, _ = cv2.estimateAffinePartial2D(points, template * size, method=cv2.RANSAC, ransacReprojThreshold=100)
    crop = cv2.warpAffine(image, matrix, (size, size), flags=cv2.INTER_AREA, borderMode=cv2.BORDER_REPLICATE)
    return crop, matrix


def detector_view(image: Pixels, side: int = 640) -> Array:
    """(1, 3, side, side) the picture, shrunk, in the top left corner of a black square; 0..1."""
    height, width = image.shape[:2]
    zoom = min(side / height, side / width, 1)
    small = cv2.resize(image, (int(width * zoom), int(height * zoom)))
    view = np.zeros((side, side, 3))
    view[: small.shape[0], : small.shape[1]] = small
    return _planes(view / 255)


def landmarker_view(image: Pixels, points: Array) -> Array:
    """(1, 3, 256, 256) around the face; 0..1. The box, which a detector would give, is twice that of the points."""
    first, last = points.min(axis=0), points.max(axis=0)
    scale = 195 / (2 * (last - first).max())
    shift = 128 - (first + last) / 2 * scale
    view = cv2.warpAffine(image, np.array([[scale, 0, shift[0]], [0, scale, shift[1]]]), (256, 256))
    lab = cv2.cvtColor(view, cv2.COLOR_RGB2Lab)
    if lab[..., 0].mean() < 30:
        lab[..., 0] = cv2.createCLAHE(clipLimit=2).apply(lab[..., 0])
    return _planes(cv2.cvtColor(lab, cv2.COLOR_Lab2RGB) / 255)


def box_mask(size: int, blur: float = 0.3) -> Array:
    """(size, size) ones with a soft border."""
    reach = int(size * 0.5 * blur)
    border = max(reach // 2, 1)
    mask = np.zeros((size, size), np.float32)
    mask[border:-border, border:-border] = 1
    return cv2.GaussianBlur(mask, (0, 0), reach * 0.25)


def paste(image: Pixels, crop: Array, mask: Array, matrix: Array) -> Pixels:
    """The whole frame with a crop in it, blended in float64."""
    height, width = image.shape[:2]
    back = cv2.invertAffineTransform(matrix)
    opacity = np.clip(cv2.warpAffine(mask, back, (width, height)), 0, 1)[..., None].astype(np.float64)
    face = cv2.warpAffine(crop, back, (width, height), borderMode=cv2.BORDER_REPLICATE)
    return (image * (1 - opacity) + face * opacity).astype(np.uint8)


def _planes(values: Array) -> Array:
    return np.ascontiguousarray(values.transpose(2, 0, 1)[None], np.float32)


def _last_weight(path: Path) -> Array:
    """The field's tool reads the whole file a second time for it."""
    import onnx
    from onnx import numpy_helper

    return numpy_helper.to_array(onnx.load(str(path)).graph.initializer[-1])

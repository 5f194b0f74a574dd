"""Awkward picture files, made by outside tools, and how outside readers see them."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any

import av
import cv2
import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageCms

from mien.geometry import Rect
from mien.media.frame import Frame
from mien.media.pictures import Picture, read_picture, write_picture

STILLS = Path(__file__).parent.parent / "stills"
WIDTH, HEIGHT = 96, 72


def photograph(width: int = WIDTH, height: int = HEIGHT) -> Image.Image:
    """A part of a real photograph, without any metadata."""
    with Image.open(STILLS / "astronaut.png") as image:
        part = image.convert("RGB").crop((120, 0, 120 + 256, 192)).resize((width, height), Image.Resampling.LANCZOS)
    return Image.fromarray(np.asarray(part))


def soft_alpha(width: int = WIDTH, height: int = HEIGHT) -> NDArray[np.uint8]:
    """(height, width): 0 at the left to 255 at the right, and a band of each of the two."""
    ramp = np.linspace(-60, 315, width).clip(0, 255).astype(np.uint8)
    return np.repeat(ramp[None], height, axis=0)


def deep(mode: str = "RGB") -> NDArray[np.uint16]:
    """16-bit samples (height, width[, channels]) that use their low bits."""
    colour = np.asarray(photograph()).astype(np.uint16) * 257
    noise = np.random.default_rng(3).integers(0, 256, colour.shape, dtype=np.uint16)
    colour = np.minimum(colour, 65535 - 256) + noise
    alpha = soft_alpha().astype(np.uint16)[..., None] * 257
    return {
        "L": colour[..., 1],
        "LA": np.concatenate([colour[..., 1:2], alpha], axis=2),
        "RGB": colour,
        "RGBA": np.concatenate([colour, alpha], axis=2),
    }[mode]


def picture(mode: str) -> Image.Image:
    """The photograph in one of Pillow's 8-bit modes, with soft alpha where the mode has one."""
    if mode.endswith("A"):
        image = photograph().convert(mode[:-1])
        image.putalpha(Image.fromarray(soft_alpha()))
        return image
    return photograph().quantize(200) if mode == "P" else photograph().convert(mode)


def write_deep_png(path: Path, samples: NDArray[np.uint16]) -> None:
    """A 16-bit PNG of any channel count, rows unfiltered."""
    height, width = samples.shape[:2]
    channels = samples.size // (height * width)
    rows = samples.reshape(height, width * channels).astype(">u2").view(np.uint8)
    colour_type = {1: 0, 2: 4, 3: 2, 4: 6}[channels]
    header = struct.pack(">IIBBBBB", width, height, 16, colour_type, 0, 0, 0)
    data = zlib.compress(np.pad(rows, ((0, 0), (1, 0))).tobytes())
    chunks = [(b"IHDR", header), (b"IDAT", data), (b"IEND", b"")]
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + b"".join(png_chunk(*chunk) for chunk in chunks))


def png_chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def write_deep_tiff(path: Path, samples: NDArray[np.uint16], compression: int) -> None:
    """A 16-bit TIFF by OpenCV; `compression` is TIFF's own number."""
    order = {3: [2, 1, 0], 4: [2, 1, 0, 3]}.get(samples.shape[-1] if samples.ndim == 3 else 1)
    samples = samples[..., order] if order else samples
    _, data = cv2.imencode(".tif", samples, [cv2.IMWRITE_TIFF_COMPRESSION, compression])
    path.write_bytes(data.tobytes())


def exif(orientation: int, **tags: Any) -> bytes:
    """An EXIF block with a maker, an exposure date and an orientation."""
    block = Image.Exif()
    block[0x0112] = orientation
    block[0x010F] = tags.get("maker", "Lichtbild")
    block.get_ifd(0x8769)[0x9003] = "2020:01:02 03:04:05"
    return block.tobytes()


def stored_pixels(path: Path) -> NDArray[Any]:
    """Samples as they are in the file, read without mien: 16 bits by FFmpeg or OpenCV, all else by Pillow."""
    data = np.frombuffer(path.read_bytes(), np.uint8)
    if path.suffix == ".png" and data[24] == 16:
        return _by_ffmpeg(path)
    if path.suffix == ".tif":
        samples = cv2.imdecode(data, cv2.IMREAD_UNCHANGED)
        if samples is not None and samples.dtype == np.uint16:
            return samples
    with Image.open(path) as image:
        return np.asarray(image).copy()


def _by_ffmpeg(path: Path) -> NDArray[np.uint16]:
    with av.open(str(path)) as container:
        plane = next(container.decode(video=0)).planes[0]
    channels = plane.buffer_size // plane.height // plane.width // 2
    rows = np.frombuffer(bytes(plane), ">u2").reshape(plane.height, -1)
    return rows[:, : plane.width * channels].reshape(plane.height, plane.width, channels).astype(np.uint16)


def shown(path: Path) -> NDArray[np.int16]:
    """Upright RGB as mien shows it."""
    return read_picture(path).display().astype(np.int16)


def brighten(frame: Frame, rect: Rect, amount: float = 0.1) -> None:
    """Add `amount` to the working colour of `rect`."""
    before = frame.working(rect)
    frame.apply(rect, before, before + np.float32(amount))


def edit_file(source: Path, output: Path, rect: Rect, edit: Callable[[Picture, Rect], None] = brighten) -> list[str]:
    """Read, edit, write; the warnings of both."""
    image = read_picture(source)
    edit(image, rect)
    return [*image.warnings, *write_picture(image, output)]


def outside(rect: Rect, height: int = HEIGHT, width: int = WIDTH) -> NDArray[np.bool_]:
    """(height, width): all that is not in `rect`."""
    mask = np.ones((height, width), bool)
    mask[rect.slices] = False
    return mask


def psnr(first: NDArray[Any], second: NDArray[Any]) -> float:
    """Peak signal to noise in dB, of 8-bit samples."""
    error = np.mean((first.astype(float) - second.astype(float)) ** 2)
    return float(10 * np.log10(255**2 / max(error, 1e-12)))


def display_p3() -> bytes:
    """Display P3 by its primaries (D50 adapted) and gamma 2.2."""
    return rgb_profile([(0.51512, 0.2412, -0.00105), (0.29198, 0.69225, 0.04189), (0.1571, 0.06657, 0.78407)], 2.2)


def adobe_rgb() -> bytes:
    """Adobe RGB (1998): primaries adapted to D50, gamma 563/256."""
    return rgb_profile(
        [(0.60974, 0.31111, 0.01947), (0.20528, 0.62567, 0.06087), (0.14919, 0.06322, 0.74457)], 563 / 256
    )


def rgb_profile(primaries: list[tuple[float, float, float]], gamma: float) -> bytes:
    """An ICC profile of three primaries (XYZ) and one gamma."""
    curve = b"curv\0\0\0\0" + struct.pack(">IH", 1, round(gamma * 256))
    tags = {b"wtpt": _xyz(0.9642, 1.0, 0.8249)}
    for name, primary in zip((b"r", b"g", b"b"), primaries, strict=True):
        tags[name + b"XYZ"] = _xyz(*primary)
        tags[name + b"TRC"] = curve
    return _profile(b"mntr", b"RGB ", b"XYZ ", tags)


def grey_profile(gamma: float) -> bytes:
    """An ICC profile of grey with one gamma."""
    curve = b"curv\0\0\0\0" + struct.pack(">IH", 1, round(gamma * 256))
    return _profile(b"mntr", b"GRAY", b"XYZ ", {b"wtpt": _xyz(0.9642, 1.0, 0.8249), b"kTRC": curve})


def cmyk_profile() -> bytes:
    """A press profile of look-up tables: inks multiply, and a quarter of the common darkness goes to black."""
    inks = _grid(4, 7)
    paper = 1 - inks
    to_lab = _srgb_to_lab(paper[:, :3] ** 0.9 * paper[:, 3:])
    colour = _lab_to_srgb(_grid(3, 17))
    darkness = 1 - colour.max(axis=1, keepdims=True)
    black = darkness**2
    separation = 1 - np.clip(colour / np.maximum(1 - black, 1e-3), 0, 1) ** (1 / 0.9)
    to_ink = np.rint(np.concatenate([separation, black], axis=1) * 255).astype(np.uint8)
    tags = {b"A2B0": _table(4, 3, 7, to_lab), b"B2A0": _table(3, 4, 17, to_ink), b"wtpt": _xyz(0.9642, 1.0, 0.8249)}
    return _profile(b"prtr", b"CMYK", b"Lab ", tags)


def to_srgb_by_lcms(image: Image.Image, profile: bytes) -> NDArray[np.int16]:
    """The picture in sRGB: relative colorimetric, black point compensation, by LittleCMS."""
    transform = ImageCms.buildTransform(
        ImageCms.ImageCmsProfile(BytesIO(profile)),
        ImageCms.createProfile("sRGB"),
        image.mode,
        "RGB",
        ImageCms.Intent.RELATIVE_COLORIMETRIC,
        ImageCms.Flags.BLACKPOINTCOMPENSATION,
    )
    return np.asarray(ImageCms.applyTransform(image, transform)).astype(np.int16)


def _xyz(*values: float) -> bytes:
    return b"XYZ \0\0\0\0" + struct.pack(">3i", *(round(value * 65536) for value in values))


def _grid(channels: int, points: int) -> NDArray[np.float64]:
    axes = np.meshgrid(*[np.linspace(0, 1, points)] * channels, indexing="ij")
    return np.stack(axes, axis=-1).reshape(-1, channels)


def _lab_transform(first: Any, second: Any, modes: tuple[str, str], codes: NDArray[np.uint8]) -> NDArray[np.uint8]:
    transform = ImageCms.buildTransform(first, second, *modes)
    return np.asarray(ImageCms.applyTransform(Image.frombytes(modes[0], (len(codes), 1), codes.tobytes()), transform))[
        0
    ]


def _srgb_to_lab(rgb: NDArray[np.float64]) -> NDArray[np.uint8]:
    """Lab as ICC codes it in 8 bits; Pillow's own a and b are signed."""
    codes = np.rint(rgb * 255).astype(np.uint8)
    lab = _lab_transform(ImageCms.createProfile("sRGB"), ImageCms.createProfile("LAB"), ("RGB", "LAB"), codes)
    return lab ^ np.array([0, 128, 128], np.uint8)


def _lab_to_srgb(lab: NDArray[np.float64]) -> NDArray[np.float64]:
    codes = np.rint(lab * 255).astype(np.uint8) ^ np.array([0, 128, 128], np.uint8)
    return _lab_transform(ImageCms.createProfile("LAB"), ImageCms.createProfile("sRGB"), ("LAB", "RGB"), codes) / 255


def _table(inputs: int, outputs: int, points: int, codes: NDArray[np.uint8]) -> bytes:
    """lut8Type (ICC.1, 10.11) with straight curves."""
    straight = bytes(range(256))
    matrix = struct.pack(">9i", *(65536 if index % 4 == 0 else 0 for index in range(9)))
    head = b"mft1\0\0\0\0" + bytes((inputs, outputs, points, 0)) + matrix
    return head + straight * inputs + codes.tobytes() + straight * outputs


def _profile(kind: bytes, space: bytes, connection: bytes, tags: dict[bytes, bytes]) -> bytes:
    offset = 128 + 4 + 12 * len(tags)
    table, body = struct.pack(">I", len(tags)), b""
    for name, data in tags.items():
        data += bytes(-len(data) % 4)
        table += struct.pack(">4sII", name, offset + len(body), len(data))
        body += data
    head = struct.pack(">I4sI4s4s4s", offset + len(body), b"test", 0x02400000, kind, space, connection)
    head += bytes(12) + b"acsp" + bytes(28) + struct.pack(">3i", 63190, 65536, 54061)
    return head.ljust(128, b"\0") + table + body

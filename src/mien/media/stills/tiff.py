"""TIFF. The first picture of a file; its compression and all tags are kept."""

from __future__ import annotations

import struct
from dataclasses import dataclass, replace

import cv2
import numpy as np
from numpy.typing import NDArray
from PIL import Image, UnidentifiedImageError

from mien.errors import UnsupportedMediaError
from mien.media.arrays import Pixels
from mien.media.containers import tiff
from mien.media.containers.tiff import Field, Structure
from mien.media.metadata import Metadata, without_photoshop_thumbnail, without_xmp_thumbnails
from mien.media.profiles import ColourModel
from mien.media.stills.damage import is_deflate_damaged, is_jpeg_damaged
from mien.media.stills.still import (
    CREDENTIALS_DROPPED,
    VISUALLY_LOSSLESS,
    Still,
    image_of,
    mode_of,
    open_image,
    pixels_of,
    save,
)

_MODELS: dict[str, ColourModel] = {
    "1": "rgb", "P": "rgb", "L": "grey", "LA": "grey", "I;16": "grey", "I;16B": "grey", "RGB": "rgb", "RGBA": "rgb",
    "CMYK": "cmyk",
}  # fmt: skip
_CODED_ANEW = frozenset(
    {
        *range(256, 260), 262, 266, 273, *range(277, 280), 284, 292, 293, 317, *range(320, 326), 338, 339, 347, 530,
        531, 532, tiff.SUB_DIRECTORIES, tiff.PHOTOSHOP_LAYERS, tiff.CREDENTIALS,
    }
)  # fmt: skip
"""Tags that describe how pixels are stored, and copies of the picture that would show the face that was there; content
credentials do not hold for other pixels."""

_PREDICTABLE = ("tiff_lzw", "tiff_adobe_deflate", "zstd", "lzma")
"""Compressions, as Pillow names them, that go with differences between neighbours."""

_WRITABLE = {
    "tiff_deflate": "tiff_adobe_deflate",
    **{name: name for name in (*_PREDICTABLE, "raw", "packbits", "jpeg", "group3", "group4", "tiff_ccitt")},
}
"""Compression of a file -> compression of its edited copy."""

_NOT_IN_EXIF = _CODED_ANEW | {tiff.XMP, tiff.PHOTOSHOP, tiff.PROFILE, 33723}


@dataclass(frozen=True, slots=True)
class _Coding:
    order: str
    """`<` or `>`, as `struct` writes byte order."""
    compression: str = "tiff_adobe_deflate"
    """Pillow's name."""
    predictor: bool = True
    associated_alpha: bool = False
    bilevel: bool = False


def read(data: bytes) -> Still:
    """Decode the first picture."""
    structure = tiff.read(data)
    try:
        image = open_image(_plain(data, structure), "TIFF")
    except UnidentifiedImageError as error:
        raise UnsupportedMediaError("stores samples in an unusual way: convert it to 8- or 16-bit RGB first") from error
    if image.mode == "YCbCr":
        image = image.convert("RGB")
    if image.mode not in _MODELS:
        raise UnsupportedMediaError(f"has the colour mode {image.mode}: convert it to 8- or 16-bit RGB first")
    bits = (structure.numbers(tiff.BITS) or (1,))[0]
    if bits == 16 and structure.numbers(tiff.PLANAR) == (2,):
        raise UnsupportedMediaError("stores 16-bit channels in planes of their own: save it with interleaved channels")
    pixels = _read_16_bit(data, image.mode) if bits == 16 and len(image.getbands()) > 1 else pixels_of(image)
    compression = image.info.get("compression", "raw")
    coding = _Coding(
        order=structure.order,
        compression=_WRITABLE.get(compression, "tiff_adobe_deflate"),
        predictor=structure.numbers(tiff.PREDICTOR) == (2,),
        associated_alpha=structure.numbers(tiff.EXTRA_SAMPLES)[:1] == (1,),
        bilevel=image.mode == "1",
    )
    return Still(
        format="TIFF",
        pixels=pixels,
        model=_MODELS[image.mode],
        maximum=65535 if pixels.dtype == np.uint16 else 255,
        palette=_palette(image),
        palette_limit=2 if coding.bilevel else 256,
        metadata=_metadata(image, structure),
        options={"coding": coding},
        carried=tuple((tag, _carried(tag, field)) for tag, field in structure.directory.items() if _is_carried(tag)),
        warnings=_warnings(structure, bits, compression),
    )


def write(still: Still) -> bytes:
    """Encode."""
    coding: _Coding | None = still.options.get("coding")
    carried = dict(still.carried)
    if coding is None:
        order, carried = _fields_of(still.metadata)
        coding = _Coding(order=order)
    order = coding.order
    strips, fields = _compress(still, coding)
    if still.has_alpha:
        fields[tiff.EXTRA_SAMPLES] = tiff.shorts(order, 1 if coding.associated_alpha else 2)
    if still.palette is not None and not coding.bilevel:
        table = np.zeros((256, 3), np.uint16)
        table[: len(still.palette)] = still.palette[:, :3].astype(np.uint16) * 257
        fields[tiff.COLOUR_MAP] = tiff.shorts(order, *table.T.ravel().tolist())
    return tiff.write(order, {**carried, **fields}, strips)


def with_xmp(still: Still, packet: bytes) -> Still:
    """The picture with another XMP packet."""
    own = "coding" in still.options
    kept = tuple((tag, field) for tag, field in still.carried if tag != tiff.XMP)
    return replace(still.with_xmp(packet), carried=(*kept, (tiff.XMP, Field(1, len(packet), packet))) if own else ())


def _plain(data: bytes, structure: Structure) -> bytes:
    """The file without what makes readers turn pixels, or divide them by alpha."""
    copy = bytearray(data)
    for tag, value in ((tiff.ORIENTATION, 1), (tiff.EXTRA_SAMPLES, 2)):
        if structure.numbers(tag)[:1] not in ((), (0,)):
            struct.pack_into(structure.order + "H", copy, structure.places[tag], value)
    return bytes(copy)


def _read_16_bit(data: bytes, mode: str) -> Pixels:
    pixels = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_UNCHANGED)
    if mode not in ("RGB", "RGBA") or pixels is None or pixels.dtype != np.uint16:
        raise UnsupportedMediaError(f"has 16-bit {mode} samples: convert it to 8 bits or to RGB first")
    return pixels[..., [2, 1, 0, 3][: len(mode)]].astype(np.uint16)


def _palette(image: Image.Image) -> NDArray[np.uint8] | None:
    if image.mode == "1":
        return np.array([[0, 0, 0], [255, 255, 255]], np.uint8)
    return np.array(image.getpalette("RGB"), np.uint8).reshape(-1, 3) if image.mode == "P" else None


def _metadata(image: Image.Image, structure: Structure) -> Metadata:
    directory = {tag: field for tag, field in structure.directory.items() if tag not in _NOT_IN_EXIF}
    exif = tiff.write(structure.order, directory, []) if directory else None
    return Metadata.of({**image.info, "exif": exif})


def _is_carried(tag: int) -> bool:
    return tag not in _CODED_ANEW


def _carried(tag: int, field: Field) -> Field:
    blank = {tiff.PHOTOSHOP: without_photoshop_thumbnail, tiff.XMP: without_xmp_thumbnails}.get(tag)
    return replace(field, raw=blank(field.raw)) if blank else field


def is_damaged(data: bytes) -> bool:
    """Whether a file that can be read shows something else in part of it (of JPEG and deflate, which tell)."""
    structure = tiff.read(data)
    places = zip(structure.numbers(tiff.STRIP_OFFSETS), structure.numbers(tiff.STRIP_SIZES), strict=False)
    tiles = zip(structure.numbers(tiff.TILE_OFFSETS), structure.numbers(tiff.TILE_SIZES), strict=False)
    parts = (data[offset : offset + size] for offset, size in (*places, *tiles))
    compression = structure.numbers(tiff.COMPRESSION)
    if compression in ((tiff.DEFLATE,), (tiff.OLD_DEFLATE,)):
        return is_deflate_damaged(parts)
    if compression == (tiff.JPEG,):
        tables = structure.directory.get(tiff.JPEG_TABLES)
        # The tables are a file of their own, whose end and the parts' start are left out to make one of both.
        return any(is_jpeg_damaged(tables.raw[:-2] + part[2:] if tables else part) for part in parts)
    return False


def _warnings(structure: Structure, bits: int, compression: str) -> tuple[str, ...]:
    notes: list[str] = []
    if structure.has_more:
        notes.append("the file holds further pictures: only the first is kept")
    if tiff.CREDENTIALS in structure.directory:
        notes.append(CREDENTIALS_DROPPED)
    if tiff.PHOTOSHOP_LAYERS in structure.directory:
        notes.append("Photoshop layers are left out: they show the picture before the edit")
    if 1 < bits < 8:
        notes.append(f"{bits} bits a sample are written as 8")
    if compression not in _WRITABLE:
        notes.append(f"the compression {compression} cannot be written: deflate is used")
    return tuple(notes)


def _fields_of(metadata: Metadata) -> tuple[str, dict[int, Field]]:
    """What came from another format, as byte order and tags."""
    exif = tiff.read(metadata.exif) if metadata.exif else None
    order = exif.order if exif else "<"
    fields = {tag: field for tag, field in exif.directory.items() if tag not in _NOT_IN_EXIF} if exif else {}
    if metadata.dpi:
        values = [number for value in metadata.dpi for number in (round(value * 1000), 1000)]
        for tag, pair in zip(tiff.RESOLUTIONS, (values[:2], values[2:]), strict=True):
            fields[tag] = Field(5, 1, struct.pack(order + "2I", *pair))
        fields[tiff.RESOLUTION_UNIT] = tiff.shorts(order, 2)  # inch
    if metadata.icc:
        fields[tiff.PROFILE] = Field(7, len(metadata.icc), metadata.icc)
    if metadata.xmp:
        fields[tiff.XMP] = Field(1, len(metadata.xmp), metadata.xmp)
    return order, fields


def _compress(still: Still, coding: _Coding) -> tuple[list[bytes], dict[int, Field]]:
    """Strips, and the tags that say how they are to be read."""
    if coding.bilevel or coding.compression == "jpeg":
        image = Image.fromarray(still.pixels[..., 0] != 0) if coding.bilevel else image_of(still.pixels, mode_of(still))
        strips, coded = _strips(image, coding.compression)
        return strips, {tag: field for tag, field in coded.directory.items() if tag in _CODED_ANEW}
    height, width, samples = still.pixels.shape
    bits, order = (16, coding.order) if still.maximum == 65535 else (8, coding.order)
    codes = still.pixels
    predictor = coding.predictor and coding.compression in _PREDICTABLE
    if predictor:
        codes = codes.copy()
        codes[:, 1:] -= still.pixels[:, :-1]
    rows = codes.reshape(height, -1).astype(f"{order}u{bits // 8}").view(np.uint8)
    strips, coded = _strips(Image.fromarray(rows), coding.compression)
    fields = {
        tiff.WIDTH: tiff.longs(order, width),
        tiff.HEIGHT: tiff.longs(order, height),
        tiff.BITS: tiff.shorts(order, *[bits] * samples),
        tiff.COMPRESSION: tiff.shorts(order, *coded.numbers(tiff.COMPRESSION)),
        tiff.PHOTOMETRIC: tiff.shorts(order, _photometric(still)),
        tiff.SAMPLES: tiff.shorts(order, samples),
        tiff.ROWS_PER_STRIP: tiff.longs(order, *coded.numbers(tiff.ROWS_PER_STRIP)),
        tiff.PLANAR: tiff.shorts(order, 1),
    }
    return strips, {**fields, tiff.PREDICTOR: tiff.shorts(order, 2)} if predictor else fields


def _strips(image: Image.Image, compression: str) -> tuple[list[bytes], Structure]:
    """Strips of a whole file made by Pillow, and that file's directory."""
    options = {"quality": VISUALLY_LOSSLESS} if compression == "jpeg" else {}
    data = save(image, "TIFF", {"compression": compression, **options})
    coded = tiff.read(data)
    places = zip(coded.numbers(tiff.STRIP_OFFSETS), coded.numbers(tiff.STRIP_SIZES), strict=True)
    return [data[offset : offset + size] for offset, size in places], coded


def _photometric(still: Still) -> int:
    if still.palette is not None:
        return 3
    return {"grey": 1, "rgb": 2, "cmyk": 5}[still.model]

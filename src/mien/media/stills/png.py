"""PNG, every colour type and depth. Written without interlacing; all other chunks are carried."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Sequence
from dataclasses import replace

import cv2
import numpy as np
from numpy.typing import NDArray

from mien.media.containers import png
from mien.media.containers.png import Chunk, Header
from mien.media.metadata import Metadata, without_thumbnail
from mien.media.profiles import ColourModel
from mien.media.stills.still import CREDENTIALS_DROPPED, Still, open_image, pixels_of

_MODELS: dict[int, ColourModel] = {png.GREY: "grey", png.GREY_ALPHA: "grey"}

_CARRIED = frozenset(
    b"cHRM gAMA iCCP sBIT sRGB cICP mDCV cLLI bKGD hIST pHYs sPLT tIME iTXt tEXt zTXt eXIf tRNS".split()
)
"""What the standard defines. Of private chunks only those marked safe to copy (last letter small) are carried."""

_OF_PALETTE = frozenset((b"bKGD", b"hIST", b"sBIT", b"tRNS"))
"""What says something else for a picture without palette."""


_XMP_KEYWORD = b"XML:com.adobe.xmp\0"


def read(data: bytes) -> Still:
    """Decode."""
    image = open_image(data, "PNG")
    header = png.read_header(data)
    chunks = list(png.read_chunks(data))
    palette = _palette(header, chunks)
    if header.depth == 16:
        pixels = _read_16_bit(data, header)
    else:
        pixels = pixels_of(image)
        if palette is not None and header.colour == png.GREY and header.depth > 1:
            pixels //= 255 // ((1 << header.depth) - 1)
    return Still(
        format="PNG",
        pixels=pixels,
        model="rgb" if palette is not None else _MODELS.get(header.colour, "rgb"),
        maximum=65535 if header.depth == 16 else 255,
        palette=palette,
        metadata=Metadata.of(image.info, getattr(image, "text", {})),
        palette_limit=1 << min(header.depth, 8),
        options={"header": header},
        carried=carried_chunks(chunks, without=(b"tRNS",) if header.colour == png.PALETTE else ()),
        warnings=(CREDENTIALS_DROPPED,) if any(chunk.name == b"caBX" for chunk in chunks) else (),
    )


def write(still: Still) -> bytes:
    """Encode."""
    height, width = still.pixels.shape[:2]
    own: Header | None = still.options.get("header")
    header = Header(width, height, 8 if still.maximum == 255 else 16, _colour_type(still))
    chunks = list(still.carried) if own else metadata_chunks(still.metadata)
    if own and still.palette is None and (own.colour == png.PALETTE or own.depth < 8):
        chunks = [chunk for chunk in chunks if chunk.name not in _OF_PALETTE]
    elif own:
        header = own._replace(width=width, height=height)
    if still.palette is not None and header.colour == png.PALETTE:
        chunks = _with_palette(chunks, still.palette)
    return png.write(header, chunks, still.pixels)


def with_xmp(still: Still, packet: bytes) -> Still:
    """The picture with another XMP packet."""
    own = "header" in still.options
    return replace(still.with_xmp(packet), carried=chunks_with_xmp(still.carried, packet) if own else ())


def chunks_with_xmp(chunks: Sequence[Chunk], packet: bytes) -> tuple[Chunk, ...]:
    """The chunks with `packet` as their only XMP."""
    kept = (chunk for chunk in chunks if not (chunk.name == b"iTXt" and chunk.data.startswith(_XMP_KEYWORD)))
    return (*kept, _xmp_chunk(packet))


def carried_chunks(chunks: Sequence[Chunk], *, without: Sequence[bytes] = ()) -> tuple[Chunk, ...]:
    """The chunks that hold for the edited picture as well: all that the standard defines, and private safe ones."""
    kept = (chunk for chunk in chunks if _is_carried(chunk.name) and chunk.name not in without)
    return tuple(_without_thumbnail(chunk) for chunk in kept)


def _read_16_bit(data: bytes, header: Header) -> NDArray[np.uint16]:
    pixels = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_UNCHANGED)
    if pixels is None:
        raise ValueError("its 16-bit samples cannot be decoded")
    pixels = pixels.reshape(header.height, header.width, -1).astype(np.uint16, copy=False)
    if header.colour == png.GREY_ALPHA:
        return np.ascontiguousarray(pixels[..., [0, -1]])
    order = {png.RGB: [2, 1, 0], png.RGBA: [2, 1, 0, 3]}.get(header.colour, [0])
    return np.ascontiguousarray(pixels[..., order])


def _palette(header: Header, chunks: list[Chunk]) -> NDArray[np.uint8] | None:
    """Colours of a palette picture; greys of 1, 2 and 4 bits count as one."""
    if header.colour == png.GREY and header.depth < 8:
        return np.repeat(np.linspace(0, 255, 1 << header.depth).round().astype(np.uint8)[:, None], 3, axis=1)
    if header.colour != png.PALETTE:
        return None
    found = {chunk.name: chunk.data for chunk in chunks}
    colours = np.frombuffer(found[b"PLTE"], np.uint8).reshape(-1, 3)
    if b"tRNS" not in found:
        return colours
    alpha = np.full((len(colours), 1), 255, np.uint8)
    given = np.frombuffer(found[b"tRNS"], np.uint8)[: len(colours)]
    alpha[: len(given), 0] = given
    return np.concatenate([colours, alpha], axis=1)


def _with_palette(chunks: list[Chunk], palette: NDArray[np.uint8]) -> list[Chunk]:
    """PLTE comes after the colour space and before everything that refers to it (5.6 in the standard)."""
    first = frozenset((b"cHRM", b"gAMA", b"iCCP", b"sBIT", b"sRGB", b"cICP", b"mDCV", b"cLLI"))
    colours = [Chunk(b"PLTE", palette[:, :3].tobytes())]
    if palette.shape[1] == 4:
        colours.append(Chunk(b"tRNS", palette[:, 3].tobytes()))
    before = [chunk for chunk in chunks if chunk.name in first]
    return [*before, *colours, *(chunk for chunk in chunks if chunk.name not in first)]


def _is_carried(name: bytes) -> bool:
    return name in _CARRIED or (name.isalpha() and name[1:2].islower() and name[3:].islower())


def _without_thumbnail(chunk: Chunk) -> Chunk:
    return Chunk(chunk.name, without_thumbnail(chunk.data)) if chunk.name == b"eXIf" else chunk


def _colour_type(still: Still) -> int:
    if still.palette is not None:
        return png.PALETTE
    if still.model == "grey":
        return png.GREY_ALPHA if still.has_alpha else png.GREY
    return png.RGBA if still.has_alpha else png.RGB


def _xmp_chunk(packet: bytes) -> Chunk:
    return Chunk(b"iTXt", _XMP_KEYWORD + b"\0\0\0\0" + packet)  # not compressed, no language


def metadata_chunks(metadata: Metadata) -> list[Chunk]:
    """Chunks that say what came from another format."""
    chunks: list[Chunk] = []
    if metadata.icc:
        chunks.append(Chunk(b"iCCP", b"ICC profile\0\0" + zlib.compress(metadata.icc)))
    if metadata.dpi:
        # Pixels per metre.
        chunks.append(Chunk(b"pHYs", struct.pack(">IIB", *(round(value / 0.0254) for value in metadata.dpi), 1)))
    if metadata.exif:
        chunks.append(Chunk(b"eXIf", metadata.exif))
    if metadata.xmp:
        chunks.append(_xmp_chunk(metadata.xmp))
    for name, text in metadata.texts:
        keyword = name.encode("latin-1", "replace")[:79]
        chunks.append(Chunk(b"iTXt", keyword + b"\0\0\0\0\0" + text.encode()))
    return chunks

"""What tests of marks share: results of real jobs, and outside readers of what is in them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import av
import c2pa

from mien.report import Report

PICTURES = ("jpg", "png", "webp", "tif")
VIDEOS = ("mp4", "mov")
FORMS = {
    "jpg": "image/jpeg", "png": "image/png", "webp": "image/webp", "tif": "image/tiff", "gif": "image/gif",
    "mp4": "video/mp4", "mov": "video/quicktime", "avi": "video/avi",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Made:
    """A result and what it was made of."""

    target: Path
    path: Path
    report: Report

    @property
    def suffix(self) -> str:
        return self.path.suffix[1:]


def manifest_store(path: Path, anchor: bytes | None = None) -> Mapping[str, Any]:
    """What C2PA's own validator says of a file; `anchor` is a certificate that it trusts."""
    settings = {"trust": {"user_anchors": anchor.decode()}} if anchor else {}
    with (
        c2pa.Context.from_dict(settings) as context,
        path.open("rb") as file,
        c2pa.Reader(FORMS[path.suffix[1:]], file, None, context) as reader,
    ):
        return json.loads(reader.json())


def active(store: Mapping[str, Any]) -> Mapping[str, Any]:
    """The manifest that speaks of the file as it is."""
    return store["manifests"][store["active_manifest"]]


def assertion(manifest: Mapping[str, Any], label: str) -> Mapping[str, Any]:
    return next(entry["data"] for entry in manifest["assertions"] if entry["label"] == label)


def failures(store: Mapping[str, Any]) -> set[str]:
    return {failure["code"] for failure in store["validation_results"]["activeManifest"]["failure"]}


def packet_place(path: Path, number: int) -> int:
    """Where the bytes of a video's packet are in its file."""
    with av.open(str(path)) as container:
        packets = [packet for packet in container.demux(video=0) if packet.size]
        return packets[number].pos + packets[number].size // 2


def with_byte_changed(path: Path, place: int, copy: Path) -> Path:
    data = bytearray(path.read_bytes())
    data[place] ^= 0x10
    copy.write_bytes(data)
    return copy

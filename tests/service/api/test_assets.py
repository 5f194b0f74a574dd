"""Uploads: what is taken, what is refused and why, and that deleted is gone."""

from __future__ import annotations

import hashlib
import io
import struct
import threading
import zlib
from pathlib import Path

import pytest
from PIL import Image

from mien.service.keys import Limits
from mien.service.library import FORGET
from mien.service.problems import TYPE_PREFIX
from support.api import PORTRAIT, STREET, Api, Caller
from support.jobs import landscape


def _refusal(caller: Caller, content: bytes) -> tuple[int, str, str]:
    response = caller.http.post("/v1/assets", content=content)
    body = response.json()
    return response.status_code, body["type"].removeprefix(TYPE_PREFIX), body["detail"]


def _png(width: int, height: int, data: bytes) -> bytes:
    def chunk(name: bytes, content: bytes) -> bytes:
        return struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))

    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", data) + chunk(b"IEND", b"")


def test_an_upload_is_kept_as_it_is_and_looked_into(api: Api, caller: Caller) -> None:
    asset = caller.upload(PORTRAIT, "my portrait.png")
    content = PORTRAIT.read_bytes()
    assert asset["sha256"] == hashlib.sha256(content).hexdigest()
    assert (asset["name"], asset["size_bytes"], asset["media_type"]) == ("my portrait.png", len(content), "image/png")
    assert (asset["kind"], asset["faces"], asset["unfit"]) == ("picture", 1, None)
    with Image.open(PORTRAIT) as image:
        assert (asset["width"], asset["height"]) == image.size
    key = api.front.state.asset(asset["id"]).key
    assert b"".join(api.front.storage.read(key)) == content
    assert caller.http.get(f"/v1/assets/{asset['id']}").json() == asset


def test_a_clip_is_told_by_its_content(caller: Caller, talking: Path) -> None:
    asset = caller.upload(talking, "portrait.png")
    assert (asset["kind"], asset["media_type"]) == ("video", "video/mp4")
    assert asset["frames"] == 75
    assert asset["seconds"] == pytest.approx(3.0, abs=0.05)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"hello",
        b"\0" * 5000,
        b"#EXTM3U\n#EXTINF:1,\nfile:///etc/passwd\n",
        b"ffconcat version 1.0\nfile '/etc/passwd'\n",
        b"%PDF-1.7",
        b"PK\x03\x04",
        b"<svg xmlns='http://www.w3.org/2000/svg'/>",
        b"v=0\r\no=- 0 0 IN IP4 127.0.0.1\r\n",
    ],
)
def test_what_is_neither_picture_nor_video_is_refused(caller: Caller, content: bytes) -> None:
    status, kind, _ = _refusal(caller, content)
    assert (status, kind) == (415, "unsupported_media")


def test_truncated_and_damaged_files_are_refused(caller: Caller, talking: Path) -> None:
    video = talking.read_bytes()
    for content in (
        STREET.read_bytes()[:2000],
        PORTRAIT.read_bytes()[:5000],
        video[: len(video) // 2],  # The index comes last.
        b"\x89PNG\r\n\x1a\n" + b"\xff" * 100,
        b"\x1a\x45\xdf\xa3" + bytes(500),
        b"RIFF\xff\xff\xff\xffWEBPVP8 " + bytes(100),
        b"II*\0\x08\0\0\0\xff\xff" + b"\xff" * 200,
    ):
        status, kind, detail = _refusal(caller, content)
        assert (status, kind) == (422, "unreadable_media"), content[:20]
        assert "asset_" in detail or "damaged" in detail


def test_a_few_bytes_that_stand_for_gigabytes_are_refused_and_the_service_goes_on(caller: Caller) -> None:
    bomb = _png(30_000, 30_000, zlib.compress(bytes(30_001 * 90_0)))
    assert _refusal(caller, bomb)[:2] == (422, "unreadable_media")
    honest_head = _png(5_000, 4_000, zlib.compress(bytes(100)))  # 20 megapixels that are not there
    assert _refusal(caller, honest_head)[:2] == (422, "unreadable_media")
    assert caller.upload(PORTRAIT)["faces"] == 1


def test_too_large_is_refused_at_the_head_and_while_it_streams(api: Api) -> None:
    small = api.caller(limits=Limits(upload_bytes=100_000))
    assert _refusal(small, bytes(100_001))[:2] == (413, "too_large")

    sent = 0

    def endless():
        nonlocal sent
        yield PORTRAIT.read_bytes()[:4096]
        while sent < 50_000_000:
            sent += 65_536
            yield bytes(65_536)

    response = small.http.post("/v1/assets", content=endless())
    assert response.status_code == 413
    assert list(api.front.library.folder.iterdir()) == []


def test_the_bytes_of_a_key_are_counted_and_given_back(api: Api) -> None:
    size = STREET.stat().st_size
    one = api.caller(limits=Limits(stored_bytes=size * 3 // 2))
    asset = one.upload(STREET)
    status, kind, detail = _refusal(one, STREET.read_bytes())
    assert (status, kind) == (403, "over_limit")
    assert "delete" in detail
    assert one.http.delete(f"/v1/assets/{asset['id']}").status_code == 204
    one.upload(STREET)


def test_deleted_is_gone(api: Api, caller: Caller) -> None:
    asset = caller.upload(PORTRAIT)
    heard = threading.Event()
    with api.front.state.client.pubsub(ignore_subscribe_messages=True) as workers:
        workers.subscribe(api.front.state.key(FORGET))
        workers.get_message(timeout=1)
        assert caller.http.delete(f"/v1/assets/{asset['id']}").status_code == 204
        while not heard.is_set():
            message = workers.get_message(timeout=10)
            assert message is not None
            if message["data"] == asset["sha256"]:
                heard.set()
    assert caller.http.get(f"/v1/assets/{asset['id']}").status_code == 404
    assert caller.http.delete(f"/v1/assets/{asset['id']}").status_code == 404
    assert not list(api.front.storage.list(f"assets/{caller.key.tenant}/"))
    assert not [key for key in api.front.state.client.scan_iter("*", count=1000) if asset["id"] in key]


def test_an_asset_in_use_stays_until_the_job_ends(caller: Caller) -> None:
    job = caller.job()["id"]
    source = caller.made["source"]
    response = caller.http.delete(f"/v1/assets/{source}")
    assert (response.status_code, response.json()["job"]) == (409, job)
    assert caller.http.post(f"/v1/jobs/{job}/cancel").status_code == 200
    assert caller.http.delete(f"/v1/assets/{source}").status_code == 204


def test_an_upload_that_is_sent_again_is_the_same_asset(caller: Caller) -> None:
    headers = {"Idempotency-Key": "one"}
    first = caller.http.post("/v1/assets", content=STREET.read_bytes(), headers=headers).json()
    again = caller.http.post("/v1/assets", content=STREET.read_bytes(), headers=headers).json()
    assert again == first
    other = caller.http.post("/v1/assets", content=PORTRAIT.read_bytes(), headers=headers)
    assert (other.status_code, other.json()["type"]) == (422, f"{TYPE_PREFIX}key_reused")


def test_names_of_any_kind_are_kept(caller: Caller) -> None:
    for name in ("ünïcödé 人.png", "../../etc/passwd", "a\nb", "'; DROP TABLE"):
        asset = caller.http.post("/v1/assets", params={"name": name}, content=STREET.read_bytes()).json()
        assert asset["name"] == name


def test_assets_are_listed_newest_first(caller: Caller, tmp_path: Path) -> None:
    landscape(tmp_path / "nobody.png")
    made = [caller.upload(path)["id"] for path in (STREET, PORTRAIT, tmp_path / "nobody.png")]
    listed = caller.http.get("/v1/assets", params={"first": 0, "count": 2}).json()["assets"]
    assert [one["id"] for one in listed] == made[:0:-1]
    assert listed[0]["faces"] == 0


def test_a_picture_without_colour_or_with_alpha_is_fine(caller: Caller) -> None:
    with Image.open(PORTRAIT) as image:
        for mode in ("L", "RGBA", "P"):
            data = io.BytesIO()
            image.convert(mode).save(data, "PNG")
            response = caller.http.post("/v1/assets", content=data.getvalue())
            assert response.status_code == 201, response.text
            assert response.json()["faces"] == 1

"""Embeddings that need not be computed again."""

from __future__ import annotations

import numpy as np

from mien.faces.remember import RememberingAnalyser
from support.people import analyser, picture


class Memory(dict):
    """A cache that keeps everything."""

    def put(self, key: str, embedding) -> None:
        self[key] = embedding


def test_a_picture_seen_before_needs_no_network() -> None:
    pixels, cache = picture("astronaut"), Memory()
    faces = analyser().find(pixels)
    fresh = RememberingAnalyser(analyser(), cache, "net").embed(pixels, faces)
    assert np.array_equal(fresh, analyser().embed(pixels, faces))
    (session,) = [session for session in analyser().sessions if session.ran.model == "dlib_face_recognition"]
    calls = session.usage.calls
    again = RememberingAnalyser(analyser(), cache, "net")
    assert np.array_equal(again.embed(pixels, again.find(pixels)), fresh)
    assert session.usage.calls == calls
    assert again.embed(pixels, []).shape == (0, 128)


def test_another_picture_or_network_is_another_embedding() -> None:
    cache = Memory()
    pixels = picture("astronaut")
    faces = analyser().find(pixels)
    RememberingAnalyser(analyser(), cache, "net").embed(pixels, faces)
    RememberingAnalyser(analyser(), cache, "net").embed(pixels // 2, faces)
    RememberingAnalyser(analyser(), cache, "another net").embed(pixels, faces)
    assert len(cache) == 3
    assert all(len(key) == 64 for key in cache)

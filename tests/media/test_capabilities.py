"""What is said to be there is what FFmpeg and Pillow have."""

import subprocess

from PIL import features

from mien.media.capabilities import codec_support, container_support, picture_support


def test_codecs_are_named_once_with_an_encoder_of_theirs():
    codecs = {support.name: support for support in codec_support()}
    assert {"h264", "hevc", "vp9", "av1", "prores", "mpeg4"} <= set(codecs)
    assert codecs["h264"].encoder == "libx264"
    assert all(support.writes == (support.encoder is not None) for support in codecs.values())


def test_containers_are_those_that_ffmpeg_writes():
    shown = subprocess.run(["ffmpeg", "-v", "error", "-muxers"], capture_output=True, text=True, check=True).stdout
    muxers = {line.split()[1] for line in shown.splitlines() if len(line.split()) > 2}
    for support in container_support():
        name = {"mkv": "matroska", "ts": "mpegts", "m4v": "mp4"}.get(support.name, support.name)
        assert support.writes == (name in muxers)


def test_picture_formats_follow_the_libraries():
    pictures = {support.name: support for support in picture_support()}
    assert pictures["jpeg"].writes
    assert pictures["avif"].writes == features.check("avif")
    assert pictures["webp"].writes == features.check("webp")
    assert pictures["heic"].extra == "heic"

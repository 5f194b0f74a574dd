"""From folders and patterns to jobs whose results never meet."""

from pathlib import Path

import pytest

from mien.cli.targets import expand_sources, expand_targets, means_many
from mien.errors import UnreadableError, UsageError
from mien.recipe import Recipe


@pytest.fixture(autouse=True)
def in_an_empty_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def make(*names):
    for name in names:
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_bytes(b"")


def jobs(target, output="out", is_media=lambda _path: True):
    recipe = Recipe(sources=("me.jpg",), target=target, output=output, crf=20)
    expanded = expand_targets(recipe, is_media)
    assert all(job.sources == recipe.sources and job.crf == 20 for job in expanded)
    return [(job.target, job.output) for job in expanded]


def test_one_file_is_one_job():
    make("clip.mp4")
    assert jobs("clip.mp4", "result.mp4") == [("clip.mp4", "result.mp4")]


def test_a_missing_file_is_left_to_the_job():
    assert jobs("nowhere.mp4", "result.mp4") == [("nowhere.mp4", "result.mp4")]


def test_a_pattern_means_every_match_in_order_of_name():
    make("clips/b 2.mp4", "clips/a.mp4", "clips/ü.mp4", "clips/notes.txt", "clips/.hidden.mp4")
    assert jobs("clips/*.mp4") == [
        ("clips/a.mp4", "out/a.mp4"),
        ("clips/b 2.mp4", "out/b 2.mp4"),
        ("clips/ü.mp4", "out/ü.mp4"),
    ]


def test_targets_of_one_name_keep_their_folders():
    make("days/mon/clip.mp4", "days/tue/clip.mp4")
    assert jobs("days/*/clip.mp4") == [
        ("days/mon/clip.mp4", "out/mon/clip.mp4"),
        ("days/tue/clip.mp4", "out/tue/clip.mp4"),
    ]
    assert jobs("days/**/*.mp4") == jobs("days/*/clip.mp4")


def test_a_name_that_looks_like_a_pattern_is_a_name_if_it_exists():
    make("clip [1].mp4", "clip 1.mp4")
    assert not means_many("clip [1].mp4")
    assert jobs("clip [1].mp4", "result.mp4") == [("clip [1].mp4", "result.mp4")]


def test_of_a_folder_media_are_taken_by_content_and_hidden_files_left():
    make("in/photo", "in/notes.mp4", "in/.secret.jpg", "in/deeper/clip.mp4")
    assert jobs("in", is_media=lambda path: path.name == "photo") == [("in/photo", "out/photo")]


def test_results_of_an_earlier_run_are_not_targets():
    make("clips/a.mp4", "clips/out/a.mp4")
    assert jobs("clips/**/*.mp4", "clips/out") == [("clips/a.mp4", "clips/out/a.mp4")]


@pytest.mark.parametrize("target", ["clips", "clips/*.mp4", "./clips/"])
def test_results_may_not_replace_the_targets(target):
    make("clips/a.mp4")
    with pytest.raises(UsageError, match="would replace the targets"):
        jobs(target, "clips")


def test_an_output_file_for_many_targets_is_refused():
    make("clips/a.mp4", "out")
    with pytest.raises(UsageError, match="must be a folder"):
        jobs("clips")


@pytest.mark.parametrize("target", ["empty", "empty/*.mp4"])
def test_no_target_at_all_is_an_error(target):
    Path("empty").mkdir()
    with pytest.raises(UnreadableError, match="empty"):
        jobs(target)


def test_patterns_among_the_sources_are_expanded():
    make("me/2.jpg", "me/1.jpg", "who[1].jpg")
    recipe = Recipe(sources=("me/*.jpg", "who[1].jpg", "gone.jpg"), target="t.mp4", output="o.mp4")
    assert expand_sources(recipe).sources == ("me/1.jpg", "me/2.jpg", "who[1].jpg", "gone.jpg")


def test_a_source_pattern_without_a_match_is_an_error():
    with pytest.raises(UnreadableError, match=r"no file matches 'me/\*\.jpg'"):
        expand_sources(Recipe(sources=("me/*.jpg",), target="t.mp4", output="o.mp4"))

"""Every field of the recipe can be given on the command line, and says the same as a recipe file."""

import argparse
import dataclasses

import pytest

from mien.cli.recipe_options import add_job_arguments, parse_person_map, read_recipe, save_recipe
from mien.errors import RecipeError, UnreadableError, UnwritableError, UsageError
from mien.recipe import PersonMap, Position, Recipe

PLAIN = ["me.jpg", "clip.mp4", "-o", "out.mp4"]

GIVEN = {
    "target": (["me.jpg", "b.mp4", "-o", "out.mp4"], "b.mp4"),
    "output": ([*PLAIN, "--output", "x.mp4"], "x.mp4"),
    "sources": (["me.jpg", "me2.jpg", "clip.mp4", "-o", "out.mp4"], ("me.jpg", "me2.jpg")),
    "faces": ([*PLAIN, "--faces", "2"], "2"),
    "reference": ([*PLAIN, "--reference", "who.jpg"], "who.jpg"),
    "reference_distance": ([*PLAIN, "--reference-distance", "0.45"], 0.45),
    "map": (
        ["clip.mp4", "-o", "out.mp4", "--map", "a.jpg,b.jpg=x.jpg", "--map", "c.jpg=y.jpg"],
        (PersonMap(("a.jpg", "b.jpg"), "x.jpg"), PersonMap(("c.jpg",), "y.jpg")),
    ),
    "start": ([*PLAIN, "--start", "00:01:02.5"], "00:01:02.5"),
    "end": ([*PLAIN, "--end", "120f"], "120f"),
    "codec": ([*PLAIN, "--codec", "hevc"], "hevc"),
    "crf": ([*PLAIN, "--crf", "20"], 20),
    "preset": ([*PLAIN, "--preset", "veryfast"], "veryfast"),
    "audio": ([*PLAIN, "--no-audio"], "none"),
    "effects": ([*PLAIN, "--effects", "swap, mark"], ("swap", "mark")),
    "shape": ([*PLAIN, "--shape", "0.25"], 0.25),
    "swapper": ([*PLAIN, "--swapper", "inswapper_128"], "inswapper_128"),
    "swapper_family": ([*PLAIN, "--swapper-family", "inswapper"], "inswapper"),
    "swapper_weight": ([*PLAIN, "--swapper-weight", "0.8"], 0.8),
    "pixel_boost": ([*PLAIN, "--pixel-boost", "512"], 512),
    "restorer": ([*PLAIN, "--restorer", "gfpgan_1.4"], "gfpgan_1.4"),
    "restorer_family": ([*PLAIN, "--restorer-family", "gfpgan"], "gfpgan"),
    "restorer_blend": ([*PLAIN, "--restorer-blend", "0.4"], 0.4),
    "restorer_weight": ([*PLAIN, "--restorer-weight", "0.9"], 0.9),
    "mask": ([*PLAIN, "--mask", "box,occlusion"], ("box", "occlusion")),
    "mask_blur": ([*PLAIN, "--mask-blur", "0.1"], 0.1),
    "mask_padding": ([*PLAIN, "--mask-padding", "0,5,10.5,0"], (0, 5, 10.5, 0)),
    "mask_areas": ([*PLAIN, "--mask-areas", "mouth"], ("mouth",)),
    "mask_regions": ([*PLAIN, "--mask-regions", "skin,nose"], ("skin", "nose")),
    "detector": ([*PLAIN, "--detector", "yoloface_8n"], "yoloface_8n"),
    "landmarker": ([*PLAIN, "--landmarker", "2dfan4"], "2dfan4"),
    "recogniser": ([*PLAIN, "--recogniser", "mine"], "mine"),
    "expression_strength": ([*PLAIN, "--expression-strength", "0.4"], 0.4),
    "strict": ([*PLAIN, "--strict"], True),
    "occluder": ([*PLAIN, "--occluder", "xseg_3"], "xseg_3"),
    "parser": ([*PLAIN, "--parser", "bisenet_resnet_18"], "bisenet_resnet_18"),
    "upscale": ([*PLAIN, "--upscale", "2"], 2),
    "upscaler": ([*PLAIN, "--upscaler", "real_esrgan_x2"], "real_esrgan_x2"),
    "models": ([*PLAIN, "--models", "mine", "--models", "a,b"], ("mine", "a,b")),
    "licence_profile": ([*PLAIN, "--licence-profile", "commercial"], "commercial"),
    "memory_budget": ([*PLAIN, "--memory-budget", "4GiB"], "4GiB"),
    "device": ([*PLAIN, "--device", "gpu"], "gpu"),
    "precision": ([*PLAIN, "--precision", "fp32"], "fp32"),
    "marks": ([*PLAIN, "--marks", "metadata"], "metadata"),
    "label": ([*PLAIN, "--label", "zh"], "zh"),
    "producer": ([*PLAIN, "--producer", "Studio 5"], "Studio 5"),
    "consent": ([*PLAIN, "--consent", "c-17"], "c-17"),
    "purpose": ([*PLAIN, "--purpose", "film"], "film"),
    "gate": ([*PLAIN, "--gate", "off"], "off"),
    "certificate": ([*PLAIN, "--certificate", "c.pem", "--private-key", "k.pem"], "c.pem"),
    "private_key": ([*PLAIN, "--certificate", "c.pem", "--private-key", "k.pem"], "k.pem"),
    "segment_seconds": ([*PLAIN, "--segment-seconds", "5"], 5.0),
    "resume": ([*PLAIN, "--resume"], True),
    "overwrite": ([*PLAIN, "--overwrite"], True),
    "allow_no_face": ([*PLAIN, "--allow-no-face"], True),
    "price_per_hour": ([*PLAIN, "--price-per-hour", "1.25"], 1.25),
}
"""Field -> a command line that sets it, and the value it sets."""

TOGETHER = ("certificate", "private_key")
"""Fields of which none goes without the others."""


def parse(arguments):
    parser = argparse.ArgumentParser()
    add_job_arguments(parser)
    return parser.parse_intermixed_args(arguments)


def recipe_of(*arguments, **settings):
    return read_recipe(parse(list(arguments)), **settings)


def test_every_field_of_the_recipe_has_an_option():
    assert set(GIVEN) == {field.name for field in dataclasses.fields(Recipe)}


@pytest.mark.parametrize("name", GIVEN)
def test_an_option_sets_its_field_and_no_other(name):
    arguments, value = GIVEN[name]
    recipe = recipe_of(*arguments)
    assert getattr(recipe, name) == value
    required = {"target": "clip.mp4", "output": "out.mp4", "sources": () if name == "map" else ("me.jpg",)}
    if name in TOGETHER:
        required |= {other: GIVEN[other][1] for other in TOGETHER}
    assert recipe == Recipe(**{**required, name: value})


@pytest.mark.parametrize("suffix", ["toml", "json"])
@pytest.mark.parametrize("name", GIVEN)
def test_a_saved_recipe_is_the_same_job(name, suffix, tmp_path):
    path = str(tmp_path / f"job.{suffix}")
    options = parse([*GIVEN[name][0], "--save-recipe", path])
    save_recipe(read_recipe(options), options)
    assert recipe_of("--recipe", path) == read_recipe(options)


def test_options_win_over_the_file(tmp_path):
    path = tmp_path / "job.toml"
    path.write_text('sources = ["a.jpg"]\ntarget = "t.mp4"\noutput = "o.mp4"\ncrf = 30\nresume = true\nshape = 0.5\n')
    recipe = recipe_of("--recipe", str(path), "--crf", "18", "--no-resume", "-o", "x.mp4")
    assert recipe == Recipe(sources=("a.jpg",), target="t.mp4", output="x.mp4", crf=18, shape=0.5)


def test_one_file_beside_a_recipe_is_another_target(tmp_path):
    path = tmp_path / "job.toml"
    path.write_text('sources = ["a.jpg"]\ntarget = "t.mp4"\noutput = "o.mp4"\n')
    assert recipe_of("other.mp4", "--recipe", str(path)) == Recipe(
        sources=("a.jpg",), target="other.mp4", output="o.mp4"
    )


def test_sources_and_map_replace_each_other(tmp_path):
    mapped, plain = str(tmp_path / "mapped.toml"), str(tmp_path / "plain.toml")
    Recipe(target="t.mp4", output="o.mp4", map=(PersonMap(("a.jpg",), "x.jpg"),)).save(mapped)
    Recipe(target="t.mp4", output="o.mp4", sources=("a.jpg",), reference="x.jpg").save(plain)
    assert recipe_of("b.jpg", "t.mp4", "--recipe", mapped) == Recipe(target="t.mp4", output="o.mp4", sources=("b.jpg",))
    assert recipe_of("--map", "b.jpg=y.jpg", "--recipe", plain) == Recipe(
        target="t.mp4", output="o.mp4", map=(PersonMap(("b.jpg",), "y.jpg"),)
    )


def test_options_may_stand_between_the_files():
    assert recipe_of("--crf", "20", "me.jpg", "-o", "out.mp4", "clip.mp4") == recipe_of(*PLAIN, "--crf", "20")


def test_names_keep_spaces_and_letters_of_any_script(tmp_path):
    path = str(tmp_path / "Rezept für später.toml")
    options = parse(["Ünï cödé/my face.jpg", "影片 [1].mp4", "-o", 'a "quoted" \\ name.mp4', "--save-recipe", path])
    save_recipe(read_recipe(options), options)
    recipe = recipe_of("--recipe", path)
    assert recipe.sources == ("Ünï cödé/my face.jpg",)
    assert (recipe.target, recipe.output) == ("影片 [1].mp4", 'a "quoted" \\ name.mp4')


@pytest.mark.parametrize(
    ("text", "seconds", "frame"),
    [
        ("12.5", 12.5, None),
        ("1:02.5", 62.5, None),
        ("01:00:00.250", 3600.25, None),
        ("120f", None, 120),
        ("0", 0.0, None),
    ],
)
def test_positions(text, seconds, frame):
    assert Position.parse(recipe_of(*PLAIN, "--start", text).start) == (seconds, frame)


@pytest.mark.parametrize("text", ["-3", "1:2:3:4", "half", "12.5f"])
def test_what_is_no_position_is_refused_by_name(text):
    with pytest.raises(RecipeError, match="is not a position"):
        recipe_of(*PLAIN, f"--start={text}")


def test_an_end_before_the_start_is_refused():
    with pytest.raises(RecipeError, match="end = 5 is not after start = 10"):
        recipe_of(*PLAIN, "--start", "10", "--end", "5")


@pytest.mark.parametrize("text", ["a.jpg", "=x.jpg", "a.jpg=", "a.jpg,=x.jpg", "a=b=c"])
def test_a_malformed_map_is_refused(text):
    with pytest.raises(argparse.ArgumentTypeError, match=r"SOURCE\[,SOURCE2...\]=REFERENCE"):
        parse_person_map(text)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (["-o", "x.mp4"], UsageError, "no target"),
        (["clip.mp4", "-o", "x.mp4"], UsageError, "only one file is named"),
        (["me.jpg", "clip.mp4"], UsageError, "no output"),
        (["me.jpg", "clip.mp4", "-o", "x.mp4", "--map", "a.jpg=b.jpg"], UsageError, "only the target is expected"),
        (["clip.mp4", "-o", "x.mp4", "--map", "a.jpg=b.jpg", "--reference", "r.jpg"], RecipeError, "leave out"),
        ([*PLAIN, "--faces", "left"], RecipeError, "give all, largest"),
        ([*PLAIN, "--shape", "2"], RecipeError, "give 0 .none. to 1 .all."),
        ([*PLAIN, "--effects", ","], RecipeError, "no effects"),
        ([*PLAIN, "--mask", ","], RecipeError, "no mask"),
        ([*PLAIN, "--mask-padding", "1,2"], RecipeError, "top, right, bottom and left"),
        ([*PLAIN, "--swapper-weight", "-0.1"], RecipeError, "0.5 is the plain source"),
        ([*PLAIN, "--upscale", "3"], RecipeError, "2, 4 or 8 times"),
        ([*PLAIN, "--licence-profile", "free"], RecipeError, "any, non-commercial or commercial"),
        (["--recipe", "missing.toml"], UnreadableError, "missing.toml"),
    ],
)
def test_what_does_not_hold_together_is_said(arguments, error, message):
    with pytest.raises(error, match=message):
        recipe_of(*arguments)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('targt = "t.mp4"', "unknown recipe field 'targt'"),
        ('output = "o.mp4"', "no 'target'"),
        ('target = "t.mp4"\noutput = "o.mp4"', "no source picture"),
        ('target = "t.mp4"\nsources = ["a.jpg"]', "no output: "),
        ("target = ", "not valid TOML"),
    ],
)
def test_what_is_wrong_in_a_recipe_file_is_said(text, message, tmp_path):
    (tmp_path / "job.toml").write_text(text)
    with pytest.raises((UsageError, UnreadableError), match=message):
        recipe_of("--recipe", str(tmp_path / "job.toml"))


def test_effects_without_a_swap_need_no_source():
    assert recipe_of("clip.mp4", "-o", "x.mp4", "--effects", "mark").sources == ()


def test_a_plan_needs_no_output():
    assert recipe_of("me.jpg", "clip.mp4", default_output="new-{}".format).output == "new-clip.mp4"


def test_a_recipe_that_cannot_be_written_is_an_error(tmp_path):
    options = parse([*PLAIN, "--save-recipe", str(tmp_path / "no" / "such" / "job.toml")])
    with pytest.raises(UnwritableError, match=r"job\.toml"):
        save_recipe(read_recipe(options), options)

"""Recipes: what is accepted, what is refused and how, and that files keep every field."""

from __future__ import annotations

import dataclasses
import json
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mien.errors import RecipeError, UnreadableError, UnwritableError
from mien.recipe import PersonMap, Position, Recipe, load_fields

MINIMAL: dict[str, Any] = {"target": "clip.mp4", "output": "out.mp4", "sources": ("a.jpg",)}
MAPPED: dict[str, Any] = {"target": "clip.mp4", "output": "out.mp4"}

PRODUCER = [chr(code) for code in range(0x20, 0x7F) if chr(code) not in '"\\']

names = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), min_size=1)


@st.composite
def recipes(draw: st.DrawFn, names: st.SearchStrategy[str] = names) -> Recipe:
    many = st.lists(names, min_size=1, max_size=4).map(tuple)
    who: dict[str, st.SearchStrategy[Any]] = draw(
        st.sampled_from(
            [
                {"sources": many, "reference": st.none() | names},
                {"map": st.lists(st.builds(PersonMap, many, names), min_size=1, max_size=3).map(tuple)},
            ]
        )
    )
    start, end = sorted(draw(st.lists(st.integers(0, 10**6), min_size=2, max_size=2, unique=True)))
    unit = draw(st.sampled_from(["{}f", "{}", "{}.5", "1:{}"]))
    certificate = draw(st.none() | names)
    positive = {"allow_nan": False, "allow_infinity": False, "exclude_min": True, "min_value": 0}
    fields: dict[str, st.SearchStrategy[Any]] = {
        "target": names,
        "output": names,
        "faces": st.sampled_from(["all", "largest"]) | st.integers(0, 99).map(str),
        "reference_distance": st.floats(**positive, max_value=2),
        "start": st.sampled_from([None, unit.format(start)]),
        "end": st.sampled_from([None, unit.format(end)]),
        "codec": names,
        "crf": st.none() | st.integers(0, 63),
        "preset": st.none() | names,
        "audio": st.sampled_from(["keep", "none"]),
        "effects": many,
        "shape": st.floats(0, 1),
        "swapper": names,
        "swapper_family": st.none() | names,
        "swapper_weight": st.floats(0, 1),
        "pixel_boost": st.none() | st.integers(1, 4096),
        "restorer": st.none() | names,
        "restorer_family": st.none() | names,
        "detector": st.none() | names,
        "landmarker": st.none() | names,
        "recogniser": names,
        "restorer_blend": st.floats(0, 1),
        "expression_strength": st.floats(0, 1),
        "strict": st.booleans(),
        "restorer_weight": st.floats(0, 1),
        "mask": many,
        "mask_blur": st.floats(0, 1),
        "mask_padding": st.tuples(*[st.floats(0, 49)] * 4),
        "mask_areas": st.lists(names, max_size=3).map(tuple),
        "mask_regions": st.lists(names, max_size=3).map(tuple),
        "occluder": names,
        "parser": names,
        "upscale": st.sampled_from([None, 2, 4, 8]),
        "upscaler": st.none() | names,
        "models": st.lists(names, max_size=3).map(tuple),
        "licence_profile": st.sampled_from(["any", "non-commercial", "commercial"]),
        "memory_budget": names,
        "device": names,
        "precision": st.sampled_from(["auto", "fp32", "bf16", "fp16", "int8"]),
        "marks": st.sampled_from(["none", "metadata", "all"]),
        "label": st.sampled_from(["none", "en", "zh"]),
        "producer": st.text(PRODUCER, min_size=1),
        "consent": st.none() | names,
        "purpose": st.none() | names,
        "gate": st.sampled_from(["on", "off"]),
        "certificate": st.just(certificate),
        "private_key": st.just(certificate),
        "segment_seconds": st.floats(1, 1e300),
        "resume": st.booleans(),
        "overwrite": st.booleans(),
        "allow_no_face": st.booleans(),
        "price_per_hour": st.none() | st.floats(0, 1e300),
        **who,
    }
    assert set(fields) | {"sources", "reference", "map"} == {field.name for field in dataclasses.fields(Recipe)}
    return Recipe(**draw(st.fixed_dictionaries(fields)))


class TestRoundTrips:
    @given(recipes())
    @settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
    def test_plain_data(self, recipe: Recipe) -> None:
        assert Recipe.from_mapping(recipe.to_mapping()) == recipe

    @pytest.mark.parametrize("suffix", [".toml", ".json", ".JSON", ""])
    @given(recipe=recipes())
    @settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow], deadline=None)
    def test_files(self, tmp_path: Path, suffix: str, recipe: Recipe) -> None:
        path = tmp_path / f"recipe{suffix}"
        recipe.save(path)
        assert Recipe.load(path) == recipe

    def test_a_file_holds_only_what_differs_from_the_defaults(self, tmp_path: Path) -> None:
        Recipe(**MINIMAL, shape=0.5).save(tmp_path / "recipe.toml")
        assert tomllib.loads((tmp_path / "recipe.toml").read_text()) == {**MINIMAL, "sources": ["a.jpg"], "shape": 0.5}

    def test_a_file_name_that_is_not_unicode_fits_into_json_only(self, tmp_path: Path) -> None:
        recipe = Recipe(**{**MINIMAL, "target": "clip\udcff.mp4"})
        recipe.save(tmp_path / "recipe.json")
        assert Recipe.load(tmp_path / "recipe.json") == recipe
        with pytest.raises(RecipeError, match=r"not Unicode.*clip.*save it as \.json"):
            recipe.save(tmp_path / "recipe.toml")


class TestPlainData:
    def test_shorthands(self) -> None:
        recipe = Recipe.from_mapping({**MINIMAL, "sources": "a.jpg", "faces": 2, "start": 1.5, "end": 3})
        assert recipe == Recipe(**MINIMAL, faces="2", start="1.5", end="3")

    @pytest.mark.parametrize(("number", "text"), [(1e-7, "0.0000001"), (1e22, "10000000000000000000000"), (0, "0")])
    def test_a_moment_given_as_a_number_is_written_out(self, number: float, text: str) -> None:
        assert Recipe.from_mapping({**MINIMAL, "start": number}).start == text

    def test_one_source_of_a_person_may_stand_alone(self) -> None:
        recipe = Recipe.from_mapping({**MAPPED, "map": [{"sources": "a.jpg", "reference": "b.jpg"}]})
        assert recipe.map == (PersonMap(("a.jpg",), "b.jpg"),)

    def test_changes_win_over_the_file(self, tmp_path: Path) -> None:
        Recipe(**MINIMAL, crf=20).save(tmp_path / "recipe.toml")
        assert Recipe.load(tmp_path / "recipe.toml", crf=30, output="other.mp4") == Recipe(
            **{**MINIMAL, "output": "other.mp4"}, crf=30
        )

    @pytest.mark.parametrize("name", [field.name for field in dataclasses.fields(Recipe)])
    @pytest.mark.parametrize("value", [[], {}, [1], [""], [None], object(), "", "\0", float("nan"), float("inf"), -1])
    def test_nonsense_is_refused_or_accepted_but_never_a_crash(self, name: str, value: object) -> None:
        try:
            recipe = Recipe.from_mapping({**MINIMAL, name: value})
        except RecipeError:
            return
        assert Recipe.from_mapping(recipe.to_mapping()) == recipe


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"shap": 1}, "unknown recipe field 'shap': the fields are .*shape"),
        ({"target": 5}, "'target' must be text.* got 5"),
        ({"target": ""}, "'target' must be text of one character or more.* got ''"),
        ({"output": "a\0b"}, "'output' must be text.*without NUL"),
        ({"sources": [1]}, "'sources' must be a list of texts.* got 1 in it"),
        ({"sources": 5}, "'sources' must be a list of texts.* got 5"),
        ({"sources": []}, "no source picture: name at least one in 'sources'"),
        ({"effects": [None]}, "'effects' must be a list of texts"),
        ({"effects": []}, "no effects: leave the field out"),
        ({"shape": True}, "'shape' must be a number, got True"),
        ({"shape": "big"}, "'shape' must be a number, got 'big'"),
        ({"shape": float("nan")}, "'shape' must be a finite number, got nan"),
        ({"shape": 1.5}, r"shape = 1.5: give 0 \(none\) to 1 \(all\)"),
        ({"crf": 20.0}, "'crf' must be a whole number, got 20.0"),
        ({"crf": 64}, r"crf = 64: give 0 \(best\) to 63"),
        ({"resume": 1}, "'resume' must be true or false, got 1"),
        ({"faces": "left"}, "faces = 'left': give all, largest, or a number"),
        ({"faces": -1}, "faces = '-1': give all, largest, or a number"),
        ({"faces": "٣"}, "give all, largest, or a number"),
        ({"reference_distance": 0}, "reference_distance = 0: give a distance above 0"),
        ({"audio": "louder"}, "audio = 'louder': give keep or none"),
        ({"precision": "fp64"}, "precision = 'fp64': give auto, fp32, bf16, fp16 or int8"),
        ({"marks": "some"}, "marks = 'some': give none, metadata or all"),
        ({"label": "fr"}, "label = 'fr': give none, en or zh"),
        ({"gate": "half"}, "gate = 'half': give on or off"),
        ({"producer": 'the "best"'}, "producer = .*: give ASCII characters, none of them a quote or backslash"),
        ({"producer": "é"}, "give ASCII characters"),
        ({"certificate": "c.pem"}, "'certificate' and 'private_key' belong together"),
        ({"segment_seconds": 0.5}, "segment_seconds = 0.5: give at least 1 second"),
        ({"segment_seconds": float("inf")}, "'segment_seconds' must be a finite number"),
        ({"price_per_hour": -1}, "price_per_hour = -1: give 0 or more"),
        ({"start": "soon"}, r"'soon' is not a position: give seconds \(12.5\)"),
        ({"start": "5", "end": "5"}, "end = 5 is not after start = 5"),
        ({"start": "01:00", "end": "59.9"}, "end = 59.9 is not after start = 01:00"),
        ({"start": "10f", "end": "9f"}, "end = 9f is not after start = 10f"),
        ({"map": "a=b"}, "'map' must be a list of {sources, reference}, got 'a=b'"),
        ({"map": [{"sources": ["a"]}]}, "an entry of 'map' has exactly 'sources' and 'reference'"),
        ({"map": [{"sources": [], "reference": "b"}]}, "names one or more source pictures"),
        ({"map": [{"sources": 5, "reference": "b"}]}, "names one or more source pictures"),
        ({"map": [{"sources": "a", "reference": None}]}, "one reference picture, got .* reference None"),
        ({"map": [{"sources": "a", "reference": "b"}]}, "leave out 'sources' and 'reference'"),
    ],
)
def test_a_refusal_says_what_is_wrong(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(RecipeError, match=message):
        Recipe.from_mapping({**MINIMAL, **fields})


@pytest.mark.parametrize("name", ["target", "output"])
def test_what_must_be_there(name: str) -> None:
    with pytest.raises(RecipeError, match=f"the recipe has no '{name}'"):
        Recipe.from_mapping({key: value for key, value in MINIMAL.items() if key != name})


def test_sources_are_not_needed_without_the_swap() -> None:
    assert Recipe(target="a", output="b", effects=("sharpen",)).sources == ()


class TestPosition:
    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("12.5", (12.5, None)),
            ("0", (0.0, None)),
            ("01:02.5", (62.5, None)),
            ("1:00:00.001", (3600.001, None)),
            ("120f", (None, 120)),
        ],
    )
    def test_what_is_understood(self, text: str, expected: tuple[float | None, int | None]) -> None:
        assert Position.parse(text) == expected

    @pytest.mark.parametrize(
        "text", ["", "f", "-1", "1.", ".5", "1:2:3:4", "1f2", "1.5f", "12,5", "1e3", " 1", "1\n", "٣"]
    )
    def test_what_is_not(self, text: str) -> None:
        with pytest.raises(RecipeError, match=r"hh:mm:ss.mmm or frames \(120f\)"):
            Position.parse(text)

    @given(st.integers(0, 99), st.integers(0, 59), st.integers(0, 59), st.integers(0, 999))
    def test_clock_times_add_up(self, hours: int, minutes: int, whole: int, thousandths: int) -> None:
        position = Position.parse(f"{hours}:{minutes:02}:{whole:02}.{thousandths:03}")
        assert position.seconds == pytest.approx(hours * 3600 + minutes * 60 + whole + thousandths / 1000)


class TestFiles:
    def test_a_missing_file(self, tmp_path: Path) -> None:
        with pytest.raises(UnreadableError, match=r"cannot read the recipe .*none\.toml"):
            load_fields(tmp_path / "none.toml")

    @pytest.mark.parametrize(
        ("name", "content", "message"),
        [
            ("a.toml", b"target = ", "is not valid TOML"),
            ("a.txt", b"{}", "is not valid TOML"),
            ("a.json", b"target = 'x'", "is not valid JSON"),
            ("a.json", b"[1]", "holds no fields"),
            ("a.json", b"[" * 100_000, "is not valid JSON"),
            ("a.toml", b"\xff\xfe", "is no recipe: it is not text"),
        ],
    )
    def test_a_file_that_is_no_recipe(self, tmp_path: Path, name: str, content: bytes, message: str) -> None:
        (tmp_path / name).write_bytes(content)
        with pytest.raises(UnreadableError, match=message):
            load_fields(tmp_path / name)

    @pytest.mark.parametrize("suffix", ["toml", "json"])
    def test_where_it_cannot_be_written(self, tmp_path: Path, suffix: str) -> None:
        with pytest.raises(UnwritableError, match=r"cannot write the recipe .*No such file"):
            Recipe(**MINIMAL).save(tmp_path / "missing" / f"recipe.{suffix}")

    def test_json_is_readable_by_people(self, tmp_path: Path) -> None:
        Recipe(**{**MINIMAL, "target": "目标.mp4"}).save(tmp_path / "recipe.json")
        text = (tmp_path / "recipe.json").read_text(encoding="utf-8")
        assert "目标.mp4" in text
        assert json.loads(text)["target"] == "目标.mp4"

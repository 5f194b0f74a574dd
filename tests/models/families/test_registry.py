from typing import Any

import pytest

from mien.errors import ModelError
from mien.models.catalogue import families, field_models
from mien.models.families import templates
from mien.models.families.family import Family, Rule
from mien.models.families.registry import FAMILIES, Registry
from mien.models.families.swapping import Swapper

NAMES = {
    *("retinaface", "scrfd", "yolo_face", "yunet", "2dfan4", "peppa_wutz", "fan_68_5", "arcface", "fairface"),
    *("crossface", "inswapper", "hyperswap", "simswap", "simswap_unofficial", "ghost", "hififace", "blendswap"),
    *("uniface", "deep_swapper", "gfpgan", "codeformer", "gpen", "gpen_256", "restoreformer", "real_esrgan"),
    *("real_esrgan_128", "real_esrgan_64", "real_esrgan_1024", "span", "xseg", "bisenet"),
    *("live_portrait_feature_extractor", "live_portrait_motion_extractor", "live_portrait_generator"),
}


class Own(Family):
    """A family of the user's."""

    name = "own"
    role = "restorer"
    inputs = (Rule("x", None),)
    outputs = ()


def test_all_families_of_the_field_are_there():
    assert set(FAMILIES.families) == NAMES
    assert {family.role for family in FAMILIES.families.values()} == {
        *("detector", "landmarker", "recogniser", "classifier", "converter", "swapper", "restorer", "upscaler"),
        *("occluder", "parser", "expression", "expression_motion", "expression_generator"),
    }


def test_the_catalogue_knows_the_same_families_and_roles():
    assert {name: facts.role for name, facts in families().items()}.items() <= {
        name: family.role for name, family in FAMILIES.families.items()
    }.items()
    assert {entry.family for entry in field_models().values()} <= NAMES
    assert families().keys() | {"span"} >= NAMES


@pytest.mark.parametrize("name", sorted(NAMES))
def test_every_family_says_what_it_is(name: str):
    family = FAMILIES.find(name)
    assert family.name == name
    assert family.__doc__
    assert family.inputs
    assert family.outputs
    template = getattr(family, "template", None)
    assert template is None or any(template is known for known in vars(templates).values())


@pytest.mark.parametrize(
    ("name", "converter"),
    [
        *[("simswap", "crossface_simswap"), ("simswap_unofficial", "crossface_simswap"), ("ghost", "crossface_ghost")],
        *[("hififace", "crossface_hififace"), ("inswapper", None), ("hyperswap", None), ("blendswap", None)],
    ],
)
def test_swappers_name_their_converter(name: str, converter: str | None):
    family = FAMILIES.find(name)
    assert issubclass(family, Swapper)
    assert family.converter == converter


@pytest.mark.parametrize(
    ("name", "template", "size"),
    [
        *[("arcface", "ARCFACE_112_V2", 112), ("fairface", "ARCFACE_112_V2", 224), ("inswapper", "ARCFACE_128", 128)],
        *[("hyperswap", "ARCFACE_128", 256), ("simswap", "ARCFACE_112_V1", 256)],
        *[("simswap_unofficial", "ARCFACE_112_V1", 512), ("ghost", "ARCFACE_112_V1", 256)],
        *[("hififace", "MTCNN_512", 256), ("blendswap", "FFHQ_512", 256), ("uniface", "FFHQ_512", 256)],
        *[("deep_swapper", "DFL_WHOLE_FACE", 224), ("gfpgan", "FFHQ_512", 512), ("codeformer", "FFHQ_512", 512)],
        *[("gpen", "FFHQ_512", 512), ("gpen_256", "ARCFACE_128", 256), ("restoreformer", "FFHQ_512", 512)],
    ],
)
def test_crops_are_those_of_the_contract(name: str, template: str, size: int):
    family: Any = FAMILIES.find(name)
    assert family.template is getattr(templates, template)
    assert family.size == size


def test_pictures_of_the_source_are_those_of_the_contract():
    for name, template, size in (("blendswap", "ARCFACE_112_V2", 112), ("uniface", "FFHQ_512", 256)):
        family: Any = FAMILIES.find(name)
        assert family.picture_template is getattr(templates, template)
        assert family.picture_size == size


def test_an_unknown_family_is_an_error_that_names_the_known_ones():
    with pytest.raises(ModelError, match=r"no model family 'inswaper': it is one of retinaface, .*inswapper"):
        FAMILIES.find("inswaper")


def test_adding_gives_another_registry():
    more = FAMILIES.plus(Own)
    assert more.find("own") is Own
    assert "own" not in FAMILIES.families
    assert list(more.families)[:-1] == list(FAMILIES.families)
    with pytest.raises(ValueError, match="two families 'own'"):
        more.plus(Own)
    with pytest.raises(TypeError):
        more.families["other"] = Own  # type: ignore[index]
    assert Registry().families == {}

"""Which licence may be used for what, and what is said when it may not."""

from dataclasses import replace

import pytest

from mien.errors import PolicyError
from mien.models.catalogue import catalogue
from mien.models.licence import check_licence, is_permitted

ENTRIES = catalogue()


@pytest.mark.parametrize(
    ("profile", "permitted"),
    [
        ("any", {"commercial", "non-commercial", "research", "unknown"}),
        ("non-commercial", {"commercial", "non-commercial"}),
        ("commercial", {"commercial"}),
    ],
)
def test_what_each_profile_permits(profile, permitted):
    everything = ("commercial", "non-commercial", "research", "unknown")
    assert {use for use in everything if is_permitted(use, profile)} == permitted


def test_what_comes_with_mien_is_for_every_use():
    for entry in ENTRIES.values():
        if entry.role == "person_mask":
            check_licence(entry, "commercial", ())


def test_a_refusal_names_the_model_its_licence_and_what_may_be_used_instead():
    with pytest.raises(PolicyError) as refusal:
        check_licence(ENTRIES["inswapper_128"], "commercial", ENTRIES.values())
    said = str(refusal.value)
    assert refusal.value.exit_code == 3
    assert said.startswith("inswapper_128 is refused: its licence (InsightFace non-commercial)")
    assert "profile is commercial" in said
    assert "ghost_1_256 (Apache-2.0)" in said
    assert "hyperswap" not in said
    assert "simswap" not in said
    assert "gfpgan" not in said


def test_research_is_no_hobby():
    with pytest.raises(PolicyError, match="permits research use only"):
        check_licence(ENTRIES["hyperswap_1a_256"], "non-commercial", ())


def test_where_nothing_is_known_nothing_is_permitted():
    with pytest.raises(PolicyError, match="use that is not known"):
        check_licence(ENTRIES["uniface_256"], "non-commercial", ())


def test_it_is_said_if_no_other_network_may_be_used():
    lone = replace(ENTRIES["inswapper_128"], role="only_one")
    with pytest.raises(PolicyError, match="no other of its role may be used"):
        check_licence(lone, "commercial", ENTRIES.values())

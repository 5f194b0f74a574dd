"""The AI-content object: exactly seven keys, read in both of its forms."""

from __future__ import annotations

import json

import pytest

from mien.trust.aigc import Aigc, parse

OBJECT = Aigc.made_by("Test Studio", "0123456789abcdef")
KEYS = [
    "Label", "ContentProducer", "ProduceID", "ReservedCode1", "ContentPropagator", "PropagateID", "ReservedCode2",
]  # fmt: skip


def test_the_seven_keys_and_what_a_first_writer_says() -> None:
    fields = json.loads(OBJECT.to_json())
    assert list(fields) == KEYS
    assert fields["Label"] == "1"
    assert (fields["ContentPropagator"], fields["PropagateID"]) == (fields["ContentProducer"], fields["ProduceID"])


@pytest.mark.parametrize("form", ["{}", '{{"AIGC": {}}}', " {}\n"])
def test_bare_and_wrapped_are_read(form: str) -> None:
    assert parse(form.format(OBJECT.to_json())) == OBJECT


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "no JSON"),
        ("[" * 100_000, "no JSON"),
        ("[]", "no JSON object"),
        ('{"AIGC": 3}', "no JSON object"),
        ('{"Label": "1"}', "lacks ContentProducer, ProduceID"),
        (OBJECT.to_json().replace('"1"', '"7"'), "Label is '7'"),
        (OBJECT.to_json().replace('"1"', "1"), "Label is no text"),
    ],
)
def test_what_is_broken_is_said(text: str, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        parse(text)

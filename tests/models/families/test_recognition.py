import numpy as np
import pytest

from mien.models.families.arcface import ArcFace
from mien.models.families.crossface import CrossFace
from mien.models.families.fairface import AGES, GENDERS, RACES, FairFace
from mien.models.families.identity import Identity, apply_strength, unit_vectors
from support import contract_networks, reference

MATRIX = np.random.default_rng(1).normal(0, 1, (588, 512)).astype(np.float32)


def test_embeddings_are_those_of_the_contract(open_adapter, path, crops):
    recogniser, session = open_adapter(ArcFace, contract_networks.arcface(path, MATRIX))
    faces = crops(3, 112)
    found = recogniser.embed(faces)
    assert len(session.calls) == 1
    values = reference.planes(faces, (0.5,) * 3, (0.5,) * 3)
    np.testing.assert_allclose(session.calls[0]["input"], values, atol=1e-6)
    cells = values.reshape(3, 3, 14, 8, 14, 8).mean(axis=(3, 5)).reshape(3, -1)
    np.testing.assert_allclose(found, cells @ MATRIX, atol=2e-4)
    np.testing.assert_allclose(recogniser.embed(faces.astype(np.float32) / 255), found, atol=2e-4)


def test_looks_are_named(open_adapter, path):
    # Race: largest of red, green and blue as classes 3, 5, 6; gender: green; age: blue against red.
    race, gender, age = np.zeros((3, 7)), np.zeros((3, 2)), np.zeros((3, 9))
    race[0, 3] = race[1, 5] = race[2, 6] = 1
    gender[1, 1] = 1
    age[2, 8] = age[0, 2] = 1
    classifier, session = open_adapter(FairFace, contract_networks.fairface(path, [race, gender, age]))
    colours = np.array([[250, 20, 20], [20, 250, 20], [20, 20, 250]], np.uint8)
    faces = np.broadcast_to(colours[:, None, None], (3, 224, 224, 3)).copy()
    looks = classifier.classify(faces)
    assert [(one.race, one.gender, one.age) for one in looks] == [
        ("asian", "male", (10, 19)),
        ("indian", "female", (0, 2)),
        ("arabic", "male", (70, 100)),
    ]
    values = reference.planes(faces, (0.485, 0.456, 0.406), (0.229, 0.224, 0.225))
    np.testing.assert_allclose(session.calls[0]["input"], values, atol=1e-5)
    assert (len(RACES), len(GENDERS), len(AGES)) == (7, 2, 9)


def test_embeddings_are_averaged_raw_and_as_unit_vectors():
    embeddings = np.random.default_rng(0).normal(0, [[1], [5], [20]], (3, 512))
    person = Identity.average(embeddings)
    np.testing.assert_allclose(person.raw, embeddings.mean(0), atol=1e-5)
    np.testing.assert_allclose(person.unit, np.mean([reference.unit(one) for one in embeddings], 0), atol=1e-6)
    # Vectors that differ cancel a part of each other, and that stays so.
    assert np.linalg.norm(person.unit) < 0.9


def test_converters_see_the_raw_embedding(open_adapter, path):
    matrix = np.random.default_rng(2).normal(0, 0.1, (512, 512)).astype(np.float32)
    converter, session = open_adapter(CrossFace, contract_networks.crossface(path, matrix))
    person = Identity.average(np.random.default_rng(3).normal(0, 3, (2, 512)))
    converted = converter.convert(person)
    np.testing.assert_array_equal(session.calls[0]["input"], person.raw[None])
    expected = person.raw.astype(np.float64) @ matrix
    np.testing.assert_allclose(converted.raw, expected, atol=1e-4)
    np.testing.assert_allclose(converted.unit, reference.unit(expected), atol=1e-6)


@pytest.mark.parametrize("strength", [0, 0.2, 0.5, 0.75, 1])
def test_strength_mixes_with_or_pushes_away_from_the_target(strength: float):
    rng = np.random.default_rng(4)
    source, targets = rng.normal(0, 1, 512).astype(np.float32), rng.normal(0, 1, (3, 512)).astype(np.float32)
    mixed = apply_strength(source, targets, strength)
    for target, one in zip(targets, mixed, strict=True):
        np.testing.assert_allclose(one, reference.weighted(source, target, strength), atol=1e-6)
    if strength == 0.5:
        np.testing.assert_array_equal(mixed, np.broadcast_to(source, (3, 512)))


def test_unit_vectors_of_nothing_are_nothing():
    np.testing.assert_array_equal(unit_vectors(np.zeros((2, 512))), np.zeros((2, 512)))

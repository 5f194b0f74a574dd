"""The invented people: they look like people, and like nobody in the stills."""

import numpy as np
import pytest

from mien.quality.metrics import identity_distance
from support.people import INVENTED, NAMES, analyser, invented, picture


def embedding(image):
    return analyser().embed(image, analyser().find(image)[:1])[0]


@pytest.mark.parametrize("name", INVENTED)
def test_an_invented_person_has_one_face(name):
    faces = analyser().find(invented(name))
    assert len(faces) == 1
    assert faces[0].score > 0.95


def test_invented_people_are_others_than_those_of_the_stills():
    stills = np.stack([embedding(picture(name)) for name in NAMES])
    nearest = [identity_distance(stills, embedding(invented(name))).min() for name in INVENTED]
    assert min(nearest) > 0.55
    assert np.median(nearest) > 0.6


def test_invented_people_differ_from_each_other():
    faces = np.stack([embedding(invented(name)) for name in INVENTED])
    distances = identity_distance(faces[:, None], faces[None])[np.triu_indices(len(faces), 1)]
    assert np.median(distances) > 0.6
    assert distances.min() > 0.35


def test_invention_is_repeatable():
    first = invented("ada")
    invented.cache_clear()
    assert (invented("ada") == first).all()

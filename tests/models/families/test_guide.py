"""The guide's example is a family that works."""

import re
import textwrap
from pathlib import Path

import numpy as np

from mien.models.families.identity import Identity
from mien.models.families.registry import FAMILIES
from support import contract_networks

GUIDE = Path(__file__).parents[3] / "docs" / "families.md"


def test_the_example_is_a_family_that_works(open_adapter, path, crops):
    (code,) = re.findall(r"```python\n(.*?)```", GUIDE.read_text(encoding="utf-8"), re.DOTALL)
    names: dict[str, type] = {}
    exec(textwrap.dedent(code), names)
    registry = FAMILIES.plus(names["MySwap"])
    file = contract_networks.swapper(path, 256, np.zeros((512, 3), np.float32))
    swapper, _ = open_adapter(registry.find("my_swap"), file)
    person = Identity.average(np.random.default_rng(0).normal(0, 1, (1, 512)))
    faces = crops(2, 256)
    np.testing.assert_allclose(swapper.swap(faces, swapper.source(person)), faces / 255, atol=2e-6)

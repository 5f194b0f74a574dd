import numpy as np
import pytest

from mien.errors import UsageError
from mien.models.families.codeformer import CodeFormer
from mien.models.families.gfpgan import Gfpgan
from mien.models.families.gpen import Gpen, Gpen256
from mien.models.families.restoreformer import RestoreFormer
from mien.models.families.templates import ARCFACE_128, FFHQ_512
from support import contract_networks, reference

HALF = (0.5,) * 3
SHIFT = (0.1, 0.0, -0.2)


@pytest.mark.parametrize(
    ("family", "side", "template"),
    [
        (Gfpgan, 512, FFHQ_512),
        (RestoreFormer, 512, FFHQ_512),
        (Gpen256, 256, ARCFACE_128),
        (Gpen, 512, FFHQ_512),
        (Gpen, 1024, FFHQ_512),
    ],
)
def test_crops_go_in_and_out_in_the_same_range(open_adapter, path, crops, family, side, template):
    restorer, session = open_adapter(family, contract_networks.restorer(path, side, 0.9, SHIFT))
    assert restorer.side == side
    assert restorer.template is template
    faces = crops(2, side)
    restored = restorer.restore(faces)
    assert len(session.calls) == 1
    values = reference.planes(faces, HALF, HALF)
    np.testing.assert_allclose(session.calls[0]["input"], values, atol=1e-6)
    expected = reference.pictures(values * 0.9 + np.array(SHIFT)[None, :, None, None], HALF, HALF)
    np.testing.assert_allclose(restored, expected, atol=1e-5)


@pytest.mark.parametrize("weight", [0.0, 0.3, 1.0])
def test_codeformer_has_a_weight_of_float64(open_adapter, path, crops, weight):
    file = contract_networks.restorer(path, 512, 1, SHIFT, weighted=True)
    restorer, session = open_adapter(CodeFormer, file)
    faces = crops(2, 512)
    restored = restorer.restore(faces, weight=weight)
    # One weight for a whole batch: one call a face.
    assert [call["weight"].tolist() for call in session.calls] == [[weight], [weight]]
    assert session.calls[0]["weight"].dtype == np.float64
    values = reference.planes(faces, HALF, HALF) * weight + np.array(SHIFT)[None, :, None, None]
    np.testing.assert_allclose(restored, reference.pictures(values, HALF, HALF), atol=1e-5)


def test_other_sides_are_refused(open_adapter, path, crops):
    restorer, _ = open_adapter(Gfpgan, contract_networks.restorer(path, 512, 1, SHIFT))
    with pytest.raises(UsageError, match=r"gfpgan takes crops of shape \(n, 512, 512, 3\), got \(1, 256, 256, 3\)"):
        restorer.restore(crops(1, 256))
    assert restorer.restore(np.zeros((0, 512, 512, 3), np.uint8)).shape == (0, 512, 512, 3)

"""FaceFusion's hyperswap."""

from mien.models.families.pixels import HALVES
from mien.models.families.swapping import EmbeddingSwapper, embedding_ports
from mien.models.families.templates import ARCFACE_128


class HyperSwap(EmbeddingSwapper):
    """hyperswap_1a_256, hyperswap_1b_256, hyperswap_1c_256."""

    name = "hyperswap"
    template = ARCFACE_128
    size = 256
    mean = std = output_mean = output_std = HALVES
    inputs = embedding_ports(size)

"""SimSwap: the official network of 256 pixels and the unofficial one of 512."""

from mien.models.families.pixels import IMAGENET_MEAN, IMAGENET_STD
from mien.models.families.swapping import EmbeddingSwapper, embedding_ports
from mien.models.families.templates import ARCFACE_112_V1


class SimSwap(EmbeddingSwapper):
    """simswap_256: ImageNet values in, 0..1 out."""

    name = "simswap"
    template = ARCFACE_112_V1
    size = 256
    mean, std = IMAGENET_MEAN, IMAGENET_STD
    converter = "crossface_simswap"
    inputs = embedding_ports(size)


class SimSwapUnofficial(EmbeddingSwapper):
    """simswap_unofficial_512: 0..1 in and out."""

    name = "simswap_unofficial"
    template = ARCFACE_112_V1
    size = 512
    converter = "crossface_simswap"
    inputs = embedding_ports(size)

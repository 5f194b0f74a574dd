"""HifiFace, unofficial."""

from mien.models.families.pixels import HALVES
from mien.models.families.swapping import EmbeddingSwapper, embedding_ports
from mien.models.families.templates import MTCNN_512


class HifiFace(EmbeddingSwapper):
    """hififace_unofficial_256."""

    name = "hififace"
    template = MTCNN_512
    size = 256
    mean = std = output_mean = output_std = HALVES
    converter = "crossface_hififace"
    inputs = embedding_ports(size)

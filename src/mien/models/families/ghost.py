"""GHOST of ai-forever."""

from mien.models.families.pixels import HALVES
from mien.models.families.swapping import EmbeddingSwapper, embedding_ports
from mien.models.families.templates import ARCFACE_112_V1


class Ghost(EmbeddingSwapper):
    """ghost_1_256, ghost_2_256, ghost_3_256: the only ones that want embeddings as they come."""

    name = "ghost"
    template = ARCFACE_112_V1
    size = 256
    mean = std = output_mean = output_std = HALVES
    converter = "crossface_ghost"
    unit_source = False
    inputs = embedding_ports(size)

"""UniFace."""

from mien.models.families.pixels import HALVES
from mien.models.families.swapping import PictureSwapper, picture_ports
from mien.models.families.templates import FFHQ_512


class UniFace(PictureSwapper):
    """uniface_256: the target's values are -1..1, the source's 0..1."""

    name = "uniface"
    template = picture_template = FFHQ_512
    size = picture_size = 256
    mean = std = output_mean = output_std = HALVES
    inputs = picture_ports(size, picture_size)

"""BlendSwap."""

from mien.models.families.swapping import PictureSwapper, picture_ports
from mien.models.families.templates import ARCFACE_112_V2, FFHQ_512


class BlendSwap(PictureSwapper):
    """blendswap_256."""

    name = "blendswap"
    template = FFHQ_512
    size = 256
    picture_template = ARCFACE_112_V2
    picture_size = 112
    inputs = picture_ports(size, picture_size)

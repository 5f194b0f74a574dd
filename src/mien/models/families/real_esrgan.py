"""Real-ESRGAN and the networks that are called like it."""

from __future__ import annotations

from mien.models.families.family import Floats, Rule
from mien.models.families.pixels import from_planes, to_planes
from mien.models.families.tiles import Tiling
from mien.models.families.upscaling import Upscaler


class RealEsrgan(Upscaler):
    """real_esrgan_x2, _x4, _x8 and real_hatgan_x4."""

    name = "real_esrgan"
    tiling = Tiling(256, 16, 8)
    inputs = (Rule("input", (None, 3, None, None)),)
    outputs = (Rule(None, (None, 3, None, None)),)

    def _enlarge(self, tiles: Floats) -> Floats:
        return from_planes(self._run({"input": to_planes(tiles)})[0])


class SmallTiles(RealEsrgan):
    """clear_reality, face_dat, nomos8k_sc, realistic_rescaler, remacri, siax, span_kendata, swin2_sr, tghq_face and
    ultra_sharp: as Real-ESRGAN, in smaller tiles.
    """

    name = "real_esrgan_128"
    tiling = Tiling(128, 8, 4)


class TinyTiles(RealEsrgan):
    """real_web_photo_x4."""

    name = "real_esrgan_64"
    tiling = Tiling(64, 4, 2)


class LargeTiles(RealEsrgan):
    """ultra_sharp_2_x4."""

    name = "real_esrgan_1024"
    tiling = Tiling(1024, 64, 32)

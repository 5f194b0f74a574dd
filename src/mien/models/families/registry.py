"""Which adapter belongs to which family."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from mien.errors import ModelError
from mien.models.families.arcface import ArcFace
from mien.models.families.bisenet import BiSeNet
from mien.models.families.blendswap import BlendSwap
from mien.models.families.codeformer import CodeFormer
from mien.models.families.crossface import CrossFace
from mien.models.families.deep_swapper import DeepSwapper
from mien.models.families.fairface import FairFace
from mien.models.families.family import Family
from mien.models.families.fan import Fan
from mien.models.families.fan_68_5 import Fan68From5
from mien.models.families.gfpgan import Gfpgan
from mien.models.families.ghost import Ghost
from mien.models.families.gpen import Gpen, Gpen256
from mien.models.families.hififace import HifiFace
from mien.models.families.hyperswap import HyperSwap
from mien.models.families.inswapper import InSwapper
from mien.models.families.live_portrait import FeatureExtractor, Generator, MotionExtractor
from mien.models.families.peppa_wutz import PeppaWutz
from mien.models.families.real_esrgan import LargeTiles, RealEsrgan, SmallTiles, TinyTiles
from mien.models.families.restoreformer import RestoreFormer
from mien.models.families.retinaface import RetinaFace, Scrfd
from mien.models.families.simswap import SimSwap, SimSwapUnofficial
from mien.models.families.span import Span
from mien.models.families.uniface import UniFace
from mien.models.families.xseg import XSeg
from mien.models.families.yolo_face import YoloFace
from mien.models.families.yunet import YuNet


class Registry:
    """Families by name. Never changes: adding one gives a new registry, so readers need no lock."""

    def __init__(self, families: Iterable[type[Family]] = ()) -> None:
        table: dict[str, type[Family]] = {}
        for family in families:
            if family.name in table:
                raise ValueError(f"there are two families '{family.name}'")
            table[family.name] = family
        self._table = MappingProxyType(table)

    @property
    def families(self) -> Mapping[str, type[Family]]:
        """All of them, in the order they were added."""
        return self._table

    def find(self, name: str) -> type[Family]:
        """The adapter of a family.

        Raises:
            ModelError: there is none of that name; the message names those that are.
        """
        try:
            return self._table[name]
        except KeyError:
            raise ModelError(f"there is no model family '{name}': it is one of {', '.join(self._table)}") from None

    def plus(self, *families: type[Family]) -> Registry:
        """A registry with more families.

        Raises:
            ValueError: a name is taken.
        """
        return Registry((*self._table.values(), *families))


FAMILIES = Registry(
    (
        *(RetinaFace, Scrfd, YoloFace, YuNet),
        *(Fan, PeppaWutz, Fan68From5),
        *(ArcFace, FairFace, CrossFace),
        *(InSwapper, HyperSwap, SimSwap, SimSwapUnofficial, Ghost, HifiFace, BlendSwap, UniFace, DeepSwapper),
        *(Gfpgan, CodeFormer, Gpen, Gpen256, RestoreFormer),
        *(RealEsrgan, SmallTiles, TinyTiles, LargeTiles, Span),
        *(XSeg, BiSeNet),
        *(FeatureExtractor, MotionExtractor, Generator),
    )
)
"""The families that mien knows."""

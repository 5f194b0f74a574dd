"""Which of the field's networks a recipe asks for, and those networks at work in a job."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar, cast

from numpy.typing import NDArray

from mien.edit.neural.expression import NeuralExpression
from mien.edit.neural.masking import Masker, MaskSettings
from mien.edit.neural.person import Find, Pictures, identify, portrait
from mien.edit.neural.replacing import ByEmbedding, ByPicture, ByTraining, Replacer
from mien.edit.neural.restore import NeuralRestore
from mien.edit.neural.swap import NeuralSwap
from mien.engine.choose import Choice
from mien.engine.session import Session
from mien.errors import ModelError, RecipeError, UsageError
from mien.faces.analyser import FaceAnalyser
from mien.faces.finder import FieldFinder
from mien.faces.refining import Refiner
from mien.models.families.arcface import ArcFace
from mien.models.families.bisenet import BiSeNet
from mien.models.families.crossface import CrossFace
from mien.models.families.deep_swapper import DeepSwapper
from mien.models.families.detection import Detector
from mien.models.families.face_view import ViewLandmarker
from mien.models.families.family import Family, Role
from mien.models.families.fan_68_5 import Fan68From5
from mien.models.families.live_portrait import FeatureExtractor, Generator, LivePortrait, MotionExtractor
from mien.models.families.registry import FAMILIES
from mien.models.families.restoring import Restorer
from mien.models.families.swapping import PLAIN_STRENGTH, EmbeddingSwapper, PictureSwapper
from mien.models.families.upscaling import Upscaler
from mien.models.families.xseg import XSeg
from mien.models.loading import NetworkLoader, Wanted
from mien.models.store import Located
from mien.pipeline.rates import measured
from mien.pipeline.sharing import Sharing
from mien.pipeline.turning import Chunking
from mien.recipe import GEOMETRIC, Recipe

DEFAULT_RESTORER = "gfpgan_1.4"
EXPRESSION: Mapping[Role, str] = {
    "expression_motion": "live_portrait_motion_extractor",
    "expression": "live_portrait_feature_extractor",
    "expression_generator": "live_portrait_generator",
}
"""The networks behind the effect `expression`, in the order of use."""

FamilyT = TypeVar("FamilyT", bound=Family)


def effect_names(recipe: Recipe) -> tuple[str, ...]:
    """The recipe's effects in order: a restorer that is named comes last unless `effects` says where."""
    if recipe.restorer is not None and "restore" not in recipe.effects:
        return (*recipe.effects, "restore")
    return recipe.effects


def swaps_by_network(recipe: Recipe) -> bool:
    """Whether a network puts on the new face."""
    return "swap" in recipe.effects and recipe.swapper != GEOMETRIC


def draws(recipe: Recipe) -> bool:
    """Whether the source's own pictures are drawn."""
    return "swap" in recipe.effects and recipe.swapper == GEOMETRIC


def locate_all(recipe: Recipe, loader: NetworkLoader) -> dict[Role, Located]:
    """The networks' files by role, in the order of their use.

    Raises:
        ModelError: one is unknown or nowhere.
        UsageError: one does not fill its role.
        PolicyError: the licence of one is not permitted.
    """
    located: dict[Role, Located] = {}

    def add_by_id(role: Role, model: str) -> None:
        if Wanted(role, model).is_path:
            raise UsageError(
                f"{role} = '{model}': name it by its id; `mien models add` gives one to a file of your own"
            )
        add(role, model)

    def add(role: Role, model: str, family: str | None = None) -> type[Family]:
        located[role] = loader.locate(Wanted(role, model, family))
        return FAMILIES.find(located[role].entry.family)

    effects = effect_names(recipe)
    masked = swaps_by_network(recipe) or "restore" in effects or "expression" in effects
    if recipe.detector is not None:
        add_by_id("detector", recipe.detector)
    if recipe.landmarker is not None:
        if not masked:
            raise UsageError("'landmarker' is for networks that swap or restore, and none does: leave it out")
        add_by_id("landmarker", recipe.landmarker)
    if swaps_by_network(recipe):
        family = add("swapper", recipe.swapper, recipe.swapper_family)
        if issubclass(family, EmbeddingSwapper):
            add_by_id("recogniser", recipe.recogniser)
            if family.converter is not None:
                add("converter", family.converter)
    if masked and "occlusion" in recipe.mask:
        add("occluder", recipe.occluder)
    if swaps_by_network(recipe) and "region" in recipe.mask:
        add("parser", recipe.parser)
    if "restore" in effects:
        add("restorer", recipe.restorer or DEFAULT_RESTORER, recipe.restorer_family)
    if "expression" in effects:
        for role, model in EXPRESSION.items():
            add(role, model)
    if recipe.upscale or recipe.upscaler:
        add("upscaler", recipe.upscaler or f"span_x{recipe.upscale}")
    return located


def share(recipe: Recipe, located: Mapping[Role, Located], loader: NetworkLoader, budget_bytes: int) -> Sharing:
    """The networks under their budget.

    Raises:
        ModelError: a file is no ONNX network.
        EngineError: the machine has not what is asked for.
    """
    choices: dict[Role, Choice] = {role: loader.choose(one) for role, one in located.items()}
    return Sharing(recipe, effect_names(recipe), located, choices, budget_bytes, measured())


def enlargement(recipe: Recipe, located: Mapping[Role, Located], loader: NetworkLoader) -> int:
    """How much larger frames will become. Where the recipe leaves that to the network, it is loaded and asked.

    Raises:
        ModelError, EngineError, UsageError: it cannot be loaded.
    """
    if recipe.upscale is not None or "upscaler" not in located:
        return recipe.upscale or 1
    upscaler, _ = loader.open(located["upscaler"], "plan", batched=True)
    return cast(Upscaler, upscaler).scale


@dataclass(slots=True)
class JobNetworks:
    """The networks of one job. Weights are read at the first run."""

    recipe: Recipe
    located: dict[Role, Located]
    sharing: Sharing
    sessions: list[Session] = field(default_factory=list[Session])
    _opened: dict[Role, Family] = field(default_factory=dict[Role, Family])

    @classmethod
    def open(cls, recipe: Recipe, loader: NetworkLoader, budget_bytes: int, job: str) -> JobNetworks:
        """Find and check all of them.

        Raises:
            ModelError: one is unknown, nowhere, or not what its family says.
            UsageError: one does not fill its role or fit into the budget, or the recipe asks of it what it cannot do.
            PolicyError: the licence of one is not permitted.
        """
        located = locate_all(recipe, loader)
        sharing = share(recipe, located, loader, budget_bytes)
        sharing.fit()  # Refuses a budget that is too small.
        networks = cls(recipe, located, sharing)
        for role, located in networks.located.items():
            batched = role == "upscaler" or (role == "swapper" and recipe.pixel_boost is not None)
            networks._opened[role], session = loader.open(located, job, batched=batched)
            networks.sessions.append(session)
        networks._check()
        return networks

    @property
    def warnings(self) -> list[str]:
        """Files that nobody vouches for, and what memory costs."""
        unverified = [
            f"{one.entry.id}: {one.path} is used unverified: {one.why}"
            for one in self.located.values()
            if not one.verified
        ]
        return [*unverified, *self.sharing.fit().warnings]

    def chunking(self, width: int, height: int) -> Chunking | None:
        """How frames of that size take turns with the networks; None where they need not."""
        return self.sharing.chunking(width * height, self.enlargement)

    @property
    def upscaler(self) -> Upscaler | None:
        """Enlarges frames."""
        return self._find("upscaler", Upscaler)

    @property
    def enlargement(self) -> int:
        """How much larger frames become."""
        upscaler = self.upscaler
        return 1 if upscaler is None else upscaler.scale

    def finding(self, analyser: FaceAnalyser) -> FaceAnalyser:
        """The analyser with the recipe's detector."""
        detector = self._find("detector", Detector)
        return analyser if detector is None else analyser.with_finder(FieldFinder(detector))

    @property
    def refiner(self) -> Refiner | None:
        """Gives faces the points of the recipe's landmarker."""
        landmarker = self._opened.get("landmarker")
        return Refiner(landmarker) if isinstance(landmarker, ViewLandmarker | Fan68From5) else None

    def person_key(self) -> tuple[str, ...]:
        """What a person depends on beside their pictures."""
        roles: tuple[Role, ...] = ("swapper", "recogniser", "converter")
        return tuple(_version(self.located[role]) for role in roles if role in self.located)

    def person(self, pictures: Pictures, find: Find) -> NDArray[Any] | None:
        """Who the pictures show, as the swapper wants to be told; None if it does not.

        Raises:
            NoFaceError: none shows a face.
            EngineError, UsageError: a network cannot be run, or does not fit into the budget.
        """
        swapper = self._opened.get("swapper")
        if isinstance(swapper, EmbeddingSwapper):
            identity = identify(pictures, find, self._get("recogniser", ArcFace))
            if (converter := self._find("converter", CrossFace)) is not None:
                identity = converter.convert(identity)
            return swapper.source(identity)
        if isinstance(swapper, PictureSwapper):
            return portrait(pictures, find, swapper.picture_template, swapper.picture_size)
        return None

    def swap(self, person: NDArray[Any] | None) -> NeuralSwap:
        """The effect that puts on a person's face (see `person`)."""
        return NeuralSwap(
            self._replacer(person),
            self._masker(self._settings),
            size=self.recipe.pixel_boost,
            recogniser=self._find("recogniser", ArcFace),
        )

    def restore(self) -> NeuralRestore:
        """The effect that gives faces more detail."""
        recipe = self.recipe
        return NeuralRestore(
            self._get("restorer", Restorer),
            self._masker(self._settings.for_restoring),
            blend=recipe.restorer_blend,
            weight=recipe.restorer_weight,
        )

    def expression(self) -> NeuralExpression:
        """The effect that brings back the target's expression."""
        portrait = LivePortrait(
            self._get("expression", FeatureExtractor),
            self._get("expression_motion", MotionExtractor),
            self._get("expression_generator", Generator),
        )
        masker = self._masker(self._settings.for_restoring)
        return NeuralExpression(portrait, masker, strength=self.recipe.expression_strength)

    @property
    def _settings(self) -> MaskSettings:
        recipe, default = self.recipe, MaskSettings()
        return MaskSettings(
            recipe.mask,
            recipe.mask_blur,
            recipe.mask_padding,
            recipe.mask_areas or default.areas,
            recipe.mask_regions or default.regions,
        )

    def _masker(self, settings: MaskSettings) -> Masker:
        return Masker(settings, self._find("occluder", XSeg), self._find("parser", BiSeNet))

    def _replacer(self, person: NDArray[Any] | None) -> Replacer:
        swapper = self._opened["swapper"]
        if isinstance(swapper, DeepSwapper):
            return ByTraining(swapper)
        assert person is not None
        if isinstance(swapper, PictureSwapper):
            return ByPicture(swapper, person)
        return ByEmbedding(cast(EmbeddingSwapper, swapper), person, self.recipe.swapper_weight)

    def _check(self) -> None:
        """What the recipe asks of networks that not all can do."""
        recipe, swapper = self.recipe, self._opened.get("swapper")
        if swapper is not None:
            _check_swapper(recipe, swapper)
        if (upscaler := self.upscaler) is not None and recipe.upscale not in (None, upscaler.scale):
            raise UsageError(f"{recipe.upscaler} enlarges {upscaler.scale} times, not {recipe.upscale}")

    def _find(self, role: Role, kind: type[FamilyT]) -> FamilyT | None:
        return self._get(role, kind) if role in self._opened else None

    def _get(self, role: Role, kind: type[FamilyT]) -> FamilyT:
        family = self._opened[role]
        if not isinstance(family, kind):
            raise ModelError(f"{self.located[role].entry.id} cannot be used as a {role}: its family is {family.name}")
        return family


def _check_swapper(recipe: Recipe, swapper: Family) -> None:
    if not (recipe.sources or recipe.map or isinstance(swapper, DeepSwapper)):
        raise RecipeError(f"no source picture, which {recipe.swapper} needs: name at least one in 'sources'")
    if recipe.swapper_weight != PLAIN_STRENGTH and not isinstance(swapper, EmbeddingSwapper):
        raise UsageError(f"{recipe.swapper} has no identity to weigh: leave out 'swapper_weight'")
    if recipe.pixel_boost is None:
        return
    if not isinstance(swapper, EmbeddingSwapper | PictureSwapper):
        raise UsageError(f"{recipe.swapper} cannot be boosted: leave out 'pixel_boost'")
    if recipe.pixel_boost % swapper.side:
        sizes = ", ".join(str(swapper.side * times) for times in range(1, 5))
        raise UsageError(
            f"pixel_boost = {recipe.pixel_boost} is no multiple of the {swapper.side} pixels of {recipe.swapper}: "
            f"give {sizes}, ..."
        )


def _version(located: Located) -> str:
    state = located.path.stat()
    return f"{located.path} {state.st_size} {state.st_mtime_ns}"

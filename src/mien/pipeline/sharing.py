"""How the networks that a recipe asks for share its memory budget, and take turns where they have to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from mien.engine.choose import Choice
from mien.engine.turns import Step
from mien.models.families.family import Role
from mien.models.families.swapping import PLAIN_STRENGTH
from mien.models.store import Located
from mien.pipeline.budget import Fit, fit, needed_together, waiting_bytes
from mien.pipeline.network_time import frame_seconds, load_seconds, measured_seconds
from mien.pipeline.rates import Rates
from mien.pipeline.turning import Chunking
from mien.recipe import Recipe

_USUAL_PIXELS = 1280 * 720
"""Of a frame whose size is not known yet."""


@dataclass(frozen=True, slots=True)
class Sharing:
    """The networks of a job and their budget."""

    recipe: Recipe
    effects: tuple[str, ...]
    """In the order in which they are applied."""
    located: Mapping[Role, Located]
    choices: Mapping[Role, Choice]
    budget_bytes: int
    rates: Rates
    """What earlier runs have measured."""

    def frame_seconds(self, pixels: int) -> float:
        """How long all of them take for a frame of so many pixels with one face."""
        return sum(self._frame_seconds(role, pixels) for role in self.located)

    @property
    def guessed(self) -> tuple[str, ...]:
        """Those of which no run has told how long they take."""
        return tuple(
            one.entry.id
            for role, one in self.located.items()
            if measured_seconds(one, self.choices[role], self.rates) is None
        )

    def fit(self, pixels: int = _USUAL_PIXELS, enlarged: int = 1) -> Fit:
        """How they share it over frames of so many pixels, which become `enlarged` times as wide and high.

        Raises:
            UsageError: one is too large for it; the message names the smallest budget that works.
        """
        expected = {one.entry.id: expected_bytes(one) for one in self.located.values()}
        return fit(expected, self._steps(pixels), self.budget_bytes, waiting_bytes(pixels, enlarged))

    def chunking(self, pixels: int, enlarged: int) -> Chunking | None:
        """How frames take turns; None where networks need not.

        Raises:
            UsageError: see `fit`.
        """
        turns = self.fit(pixels, enlarged).in_turns
        if turns is None:
            return None
        groups = (
            frozenset(role for role, one in self.located.items() if one.entry.id in group) for group in turns.groups
        )
        return Chunking(turns.chunk_frames, tuple(groups))

    def check_stream(self) -> None:
        """Check that no turns are needed, for which there is no time in a stream.

        Raises:
            UsageError: they are; the message names the smallest budget that works.
        """
        needed_together(self._steps(_USUAL_PIXELS), self.budget_bytes)

    def _steps(self, pixels: int) -> list[Step]:
        return [self._step(role, pixels) for role in self._roles() if role in self.located]

    def _roles(self) -> list[Role]:
        """Whose networks a frame uses, in the order of use."""
        seen: dict[str, Role] = {"occlusion": "occluder", "region": "parser"}
        roles: list[Role] = ["detector", "landmarker"]
        for effect in self.effects:
            if effect == "swap":
                if self.recipe.swapper_weight != PLAIN_STRENGTH:
                    roles.append("recogniser")
                roles.append("swapper")
                roles.extend(seen[kind] for kind in self.recipe.mask if kind in seen)
            elif effect == "restore":
                roles.extend(("restorer", "occluder"))
            elif effect == "expression":
                roles.extend(("expression_motion", "expression", "expression_generator", "occluder"))
        return [*roles, "upscaler"]

    def _step(self, role: Role, pixels: int) -> Step:
        one = self.located[role]
        return Step(one.entry.id, expected_bytes(one), load_seconds(one), self._frame_seconds(role, pixels))

    def _frame_seconds(self, role: Role, pixels: int) -> float:
        return frame_seconds(self.recipe, role, self.located[role], self.choices[role], pixels, self.rates)


def expected_bytes(located: Located) -> int:
    """What a network will hold, as far as its file tells."""
    return located.path.stat().st_size

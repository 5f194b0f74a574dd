"""The content gate: classifiers vote on pictures and frames, and what shows sexual content is refused.

Measured on the test portraits, the people invented from them, their crops down to the bare face, the sample clip, plain
colours, noise and gradients: no score of either classifier is above .21, but for portraits lying on their side or
enlarged from 48 pixels, which the bundled one takes for up to .60, and plain skin brown, which the other takes for .32.
The threshold lies between those and 1; how much it lets through has not been measured here.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from mien.errors import ContentRefused
from mien.trust.policy import Policy

VIEW = 256
"""Longer side in pixels of what classifiers are shown: the largest that any of them looks at."""
_TOLD = 12
"""Times that a message names."""


class Classifier(Protocol):
    """A network that knows sexual content."""

    @property
    def name(self) -> str:
        """Its id."""
        ...

    def score(self, picture: NDArray[np.uint8]) -> float:
        """How sure it is, 0..1, of RGB uint8 of any size."""
        ...


class Classifiers(Protocol):
    """Those that are installed."""

    def load(self) -> Sequence[Classifier]:
        """All of them, loaded at the first call.

        Raises:
            ContentRefused: one cannot be loaded.
        """
        ...


class Gate:
    """The classifiers and the rule by which a job's pictures are refused."""

    def __init__(self, classifiers: Classifiers, policy: Policy) -> None:
        """Args:
        classifiers: Whose votes count; they are loaded with the first picture.
        policy: Has threshold, share and votes.
        """
        self._classifiers = classifiers
        self._policy = policy

    @property
    def share(self) -> float:
        """Of refused frames, above which a job is refused."""
        return self._policy.gate_share

    @property
    def threshold(self) -> float:
        """Score from which a classifier votes against a picture."""
        return self._policy.gate_threshold

    @property
    def rule(self) -> str:
        """All on which a verdict depends beside the classifiers."""
        return f"{self.threshold} {self._policy.gate_votes}"

    def names(self) -> list[str]:
        """Of the classifiers.

        Raises:
            ContentRefused: one cannot be loaded.
        """
        return [one.name for one in self._classifiers.load()]

    def refuses(self, picture: NDArray[np.uint8]) -> bool:
        """Whether enough classifiers vote against a picture, RGB uint8 of any size.

        Raises:
            ContentRefused: one cannot be loaded.
            EngineError: one failed.
        """
        classifiers = self._classifiers.load()
        against = sum(one.score(picture) >= self.threshold for one in classifiers)
        return against >= votes_needed(len(classifiers), self._policy.gate_votes)


def votes_needed(classifiers: int, asked: int | None) -> int:
    """How many have to agree: as many as asked for, but no more than there are; else half of them."""
    return -(-classifiers // 2) if asked is None else min(asked, classifiers)


@dataclass(slots=True)
class Ballot:
    """The frames looked at, and those refused."""

    looked: int = 0
    refused_s: list[float] = field(default_factory=list[float])
    """Their times, in seconds from the start."""

    @classmethod
    def of(cls, looks: Iterable[tuple[float, bool]]) -> Ballot:
        """The ballot on frames whose times and verdicts are known."""
        ballot = cls()
        for time_s, refused in looks:
            ballot.add(time_s, refused)
        return ballot

    def add(self, time_s: float, refused: bool) -> None:
        """Count a frame."""
        self.looked += 1
        if refused:
            self.refused_s.append(time_s)

    def check(self, what: str, share: float, *, planned: int = 0) -> None:
        """Refuse what has too many refused frames.

        Args:
            what: For the message, such as a file's name.
            share: Of refused frames, above which it is refused.
            planned: Frames that will have been looked at in the end.

        Raises:
            ContentRefused: it has, however the rest may turn out.
        """
        if len(self.refused_s) <= share * max(self.looked, planned):
            return
        if max(self.looked, planned) == 1:
            raise ContentRefused(f"{what} is refused: it shows sexual content")
        times = ", ".join(f"{time:.2f}" for time in self.refused_s[:_TOLD])
        more = f" and {len(self.refused_s) - _TOLD} more" if len(self.refused_s) > _TOLD else ""
        raise ContentRefused(
            f"{what} is refused: {len(self.refused_s)} of {self.looked} frames looked at show sexual content, "
            f"at {times}{more} s",
            tuple(self.refused_s),
        )

"""What several jobs share: loaded networks, and the people made from source and reference pictures."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mien.edit.source import SourceFace, SourcePerson, build_source, know_source
from mien.engine.memory import process_meter
from mien.engine.pool import Pool
from mien.engine.residency import Residency
from mien.engine.session import Session
from mien.faces.analyser import FaceAnalyser
from mien.faces.people import reference_embedding
from mien.faces.remember import EmbeddingCache, RememberingAnalyser
from mien.media.pictures import read_rgb
from mien.models import dlib_identity
from mien.models.catalogue import find_model
from mien.models.loading import NetworkLoader, release
from mien.models.opening import Wish
from mien.models.store import ModelStore
from mien.pipeline.budget import read_budget
from mien.pipeline.checkpoint import content_digest
from mien.pipeline.effects import Role
from mien.pipeline.networks import JobNetworks, draws
from mien.pipeline.once import Once
from mien.recipe import Recipe
from mien.trust.classifiers import InstalledClassifiers
from mien.trust.gate import Gate

Read = Callable[[str], NDArray[np.uint8]]
"""From a picture's path to RGB (height, width, 3)."""

FACES_KEPT = 128
"""Things made of pictures (a source face is a few megabytes): those of the latest jobs."""


class Workshop:
    """Networks loaded once and faces built once, for any number of jobs one after the other.

    Safe to use from several threads. What was built is found again by the content of the pictures, not their names.
    """

    def __init__(
        self, device: str = "auto", precision: str = "auto", *, embeddings: EmbeddingCache | None = None
    ) -> None:
        """Choose where networks run; nothing is loaded before it is needed.

        Args:
            device: `auto`, `cpu`, `gpu`, ...
            precision: `auto`, `fp32` or `bf16`.
            embeddings: Where those of source and reference pictures are kept beyond the process; None = nowhere.

        Raises:
            EngineError: the device or precision is not there.
        """
        self.device = device
        self.precision = precision
        self.analyser = FaceAnalyser(device, precision)
        self._people = _remembering(self.analyser, embeddings, f"{device} {precision}")
        self.classifiers = InstalledClassifiers()
        self._settings = Once()
        self._faces = Once(FACES_KEPT)
        self._pools: list[Pool] = []
        self._numbers = itertools.count(1)

    def loader(self, recipe: Recipe) -> NetworkLoader:
        """Opens the field's networks as the recipe's folders, licence profile and memory budget say.

        Raises:
            UsageError: a folder is none, or the budget makes no sense.
            ModelError: the list of the user's own networks cannot be read.
        """
        folders = [Path(folder) for folder in recipe.models]
        return NetworkLoader(
            ModelStore.of_user(folders, profile=recipe.licence_profile, strict=recipe.strict),
            self._settings.get(("pool", recipe.memory_budget), lambda: self._make_pool(recipe)),
            Wish(self.device, self.precision),
        )

    def networks(self, recipe: Recipe) -> JobNetworks:
        """The field's networks that the recipe asks for; none is loaded yet.

        Raises:
            ModelError, UsageError, PolicyError: see `JobNetworks.open`.
        """
        return JobNetworks.open(recipe, self.loader(recipe), self.budget_bytes(recipe), f"job {next(self._numbers)}")

    def budget_bytes(self, recipe: Recipe) -> int:
        """What the field's networks may hold. A share of what is free is one of what was free at first.

        Raises:
            UsageError: the budget makes no sense.
        """
        return self._settings.get(("budget", recipe.memory_budget), lambda: read_budget(recipe.memory_budget))

    @property
    def sessions(self) -> list[Session]:
        """The networks that come with mien, as far as they are loaded."""
        return [*self.analyser.sessions, *self.classifiers.sessions]

    def is_refused(self, picture: str, gate: Gate, read: Read = read_rgb) -> bool:
        """Whether the content gate refuses a picture.

        Raises:
            UnreadableError: it cannot be read.
            ContentRefused: it cannot be looked at.
        """
        key = ("content", gate.rule, content_digest(Path(picture)))
        return self._faces.get(key, lambda: gate.refuses(read(picture)))

    def roles(self, recipe: Recipe, networks: JobNetworks, read: Read = read_rgb) -> tuple[Role, ...]:
        """Whose faces appear: a role's number is its place here.

        Args:
            recipe: Names the pictures.
            networks: What the swapper's network has to be told.
            read: From a picture's path to RGB.

        Raises:
            UnreadableError, NoFaceError, UnfitSourceError: see `source`.
            EngineError, UsageError: a network cannot be run, or does not fit into the budget.
        """
        groups = [entry.sources for entry in recipe.map] or [recipe.sources]
        make = self.source if draws(recipe) else self.known
        return tuple(
            Role(make(pictures, read), self._person(pictures, networks, read)) if pictures else Role(None)
            for pictures in groups
        )

    def references(self, recipe: Recipe) -> list[tuple[str, NDArray[np.float32]]]:
        """Name and identity embedding of each reference picture, in the order of the roles.

        Raises:
            UnreadableError, NoFaceError: see `identity`.
        """
        names = [entry.reference for entry in recipe.map] or ([recipe.reference] if recipe.reference else [])
        return [(name, self.identity(name)) for name in names]

    def source(self, pictures: Sequence[str], read: Read = read_rgb) -> SourceFace:
        """The person that `pictures` show.

        Raises:
            UnreadableError: a picture cannot be read.
            NoFaceError: none shows a face.
            UnfitSourceError: none can be used.
        """
        key = ("source", *(content_digest(Path(picture)) for picture in pictures))
        return self._faces.get(
            key, lambda: build_source([(picture, read(picture)) for picture in pictures], self._people)
        )

    def known(self, pictures: Sequence[str], read: Read = read_rgb) -> SourcePerson:
        """As `source`, for networks, which draw a face by themselves."""
        key = ("known", *(content_digest(Path(picture)) for picture in pictures))
        return self._faces.get(
            key, lambda: know_source([(picture, read(picture)) for picture in pictures], self._people)
        )

    def identity(self, picture: str) -> NDArray[np.float32]:
        """(128,) identity embedding of the largest face in a reference picture.

        Raises:
            UnreadableError: the picture cannot be read.
            NoFaceError: it shows no face.
        """
        return self._faces.get(
            ("identity", content_digest(Path(picture))),
            lambda: reference_embedding(picture, read_rgb(picture), self._people),
        )

    @property
    def pools(self) -> tuple[Pool, ...]:
        """Where the field's networks are."""
        return tuple(self._pools)

    def forget(self, digest: str) -> None:
        """Drop what was made of a picture.

        Args:
            digest: SHA-256 of its content.
        """
        self._faces.forget(digest)

    def close(self) -> None:
        """Let the field's networks go."""
        for pool in self._pools:
            pool.close()

    def _person(self, pictures: Sequence[str], networks: JobNetworks, read: Read) -> NDArray[Any] | None:
        """Who that is to the swapper's network."""
        key = ("person", *networks.person_key(), *(content_digest(Path(picture)) for picture in pictures))
        return self._faces.get(
            key,
            lambda: networks.person([(picture, read(picture)) for picture in pictures], self.analyser.find),
        )

    def _make_pool(self, recipe: Recipe) -> Pool:
        pool = Pool(Residency(self.budget_bytes(recipe), meter=process_meter(), release=release))
        self._pools.append(pool)
        return pool


def _remembering(
    analyser: FaceAnalyser, embeddings: EmbeddingCache | None, where: str
) -> FaceAnalyser | RememberingAnalyser:
    if embeddings is None:
        return analyser
    return RememberingAnalyser(analyser, embeddings, f"{find_model(dlib_identity.MODEL).sha256} {where}")

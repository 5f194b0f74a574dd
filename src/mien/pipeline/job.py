"""What the jobs of all kinds of targets share."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from mien.edit.effect import Effect
from mien.errors import Interrupted, NoFaceError
from mien.faces.analyser import FaceAnalyser
from mien.faces.people import People
from mien.media.files import publish
from mien.media.frame import Frame
from mien.media.pictures import is_damaged
from mien.media.stills.damage import DAMAGED
from mien.pipeline.casting import RoleOf, cast_people, nobody
from mien.pipeline.effects import Role, make_effects
from mien.pipeline.enlarging import Enlargeable, enlarge
from mien.pipeline.executor import Execution
from mien.pipeline.guard import Guard
from mien.pipeline.marking import Marking
from mien.pipeline.meter import Meter
from mien.pipeline.networks import JobNetworks
from mien.pipeline.progress import Progress, ProgressMeter
from mien.pipeline.roles import permitted_roles
from mien.pipeline.samples import Monitor
from mien.pipeline.scene import Follower, Scene
from mien.pipeline.tally import Tally, summarise
from mien.pipeline.workshop import Workshop
from mien.recipe import Recipe
from mien.report import Marks, Report

T = TypeVar("T")


@dataclass(slots=True)
class Job:
    """A recipe in work."""

    recipe: Recipe
    workshop: Workshop
    networks: JobNetworks
    report: Report
    meter: Meter
    progress: Callable[[Progress], None]
    cancelled: Callable[[], bool]
    guard: Guard
    roles: tuple[Role, ...] = field(default=())
    """Whose faces appear; a role's number is its place here."""
    frames_made: int = 0
    """Frames written by this run; those of an earlier one that is resumed are not."""
    marking: Marking = field(init=False)

    def __post_init__(self) -> None:
        self.marking = Marking(self.recipe, self.report, self.networks.located, self.guard.policy)

    @contextmanager
    def stage(self, name: str, words: str) -> Generator[None]:
        """Tell the user about a step (`words`) and count its time under `name`.

        Raises:
            Interrupted: the job was cancelled.
        """
        self._stop_if_cancelled()
        self.progress(Progress(words, 0, 0))
        began = time.perf_counter()
        yield
        self.report.stages[name] = self.report.stages.get(name, 0.0) + time.perf_counter() - began

    def unless_cancelled(self, items: Iterator[T]) -> Iterator[T]:
        """The same items.

        Raises:
            Interrupted: the job was cancelled, which is looked at before each item.
        """
        for item in items:
            self._stop_if_cancelled()
            yield item

    def _stop_if_cancelled(self) -> None:
        if self.cancelled():
            raise Interrupted("stopped")

    def build_roles(self) -> None:
        """Make the people of the recipe's source pictures.

        Raises:
            UnreadableError, NoFaceError, UnfitSourceError: a source picture cannot be used; the message names it.
            PolicyError: what a picture shows, or whose face it is, is refused.
        """
        began = time.perf_counter()
        self.roles = permitted_roles(self.recipe, self.workshop, self.networks, self.guard)
        for role in self.roles:
            for warning in role.face.warnings if role.face else ():
                self.report.warn(warning)
        for picture in (*self.recipe.sources, *(name for entry in self.recipe.map for name in entry.sources)):
            if is_damaged(picture):
                self.report.warn(f"{picture}: {DAMAGED}")
        self.report.stages["sources"] = time.perf_counter() - began

    def cast(self, people: People) -> RoleOf:
        """Who of the target's people plays which role.

        Raises:
            NoFaceError: nobody is the one asked for.
            ConsentError: somebody is barred.
        """
        self.guard.target_people(people)
        self.report.people = len(people.persons)
        return self.guard.cast(cast_people(self.recipe, people, self.workshop.references(self.recipe)))

    def cast_or_leave(self, people: People) -> RoleOf:
        """As `cast`, but where the recipe allows a target without a face to replace, nobody plays a role then.

        Raises:
            NoFaceError: nobody is the one asked for, and the recipe does not allow it.
        """
        try:
            return self.cast(people)
        except NoFaceError as error:
            if not self.recipe.allow_no_face:
                raise
            self.report.warn(str(error))
            return nobody

    def ticker(self, total: int, already_done: int = 0) -> Callable[[int], None]:
        """Turns counts of finished frames into progress."""
        meter = ProgressMeter("swapping", total, already_done=already_done)

        def tick(done: int) -> None:
            self.progress(meter.at(time.perf_counter(), done))

        tick(0)
        return tick

    def make_effects(self) -> dict[int, list[Effect]]:
        """A fresh set of effects for each role."""
        return make_effects(self.recipe, self.roles, self.networks)

    @property
    def enlarge(self) -> Callable[[Enlargeable], Frame] | None:
        """Makes a finished frame larger, if the recipe asks for it.

        Raises:
            EngineError, UsageError: the network cannot be run, or does not fit into the budget.
        """
        upscaler = self.networks.upscaler
        return None if upscaler is None else lambda frame: enlarge(frame, upscaler)

    @property
    def analyser(self) -> FaceAnalyser:
        """Finds and follows the target's faces."""
        return self.networks.finding(self.workshop.analyser)

    def make_scene(self, follower: Follower, role_of: RoleOf) -> Scene:
        """That has seen nothing, and a follower that has not either."""
        return Scene(follower, self.make_effects(), role_of, self.networks.refiner)

    def make_monitor(self) -> Monitor:
        """Measures results against this job's sources."""
        sources = {number: role.face.embedding for number, role in enumerate(self.roles) if role.face}
        return Monitor(self.workshop.analyser, sources)

    def account(self, tallies: Sequence[Tally], execution: Execution) -> None:
        """Write what was counted and how long stages took into the report."""
        summarise(tallies, self.report)
        self.frames_made = execution.items
        self.report.stages |= execution.busy_seconds
        if execution.first_done is not None:
            self.report.first_frame_seconds = execution.first_done - self.meter.began

    def require_faces(self) -> None:
        """Decide what it means that no face was replaced.

        Raises:
            NoFaceError: the recipe does not allow it.
        """
        asked = self.recipe.faces != "all" or self.recipe.reference or self.recipe.map
        what = "none of the faces asked for" if asked else "no face"
        if not self.recipe.allow_no_face:
            raise NoFaceError(
                f"{self.recipe.target} shows {what}: name another target, other faces, or 'allow_no_face'"
            )
        self.report.warn(f"the target shows {what}: it is left as it is")

    def copy_target(self) -> bool:
        """Make the output a copy of the target, bit for bit; False where the recipe asks for something else."""
        recipe = self.recipe
        if self.networks.upscaler is not None:
            return False
        as_it_is = (recipe.start, recipe.end, recipe.crf, recipe.preset, recipe.codec, recipe.audio)
        if as_it_is != (None, None, None, None, "auto", "keep"):
            return False
        if Path(recipe.output).suffix.lower() != Path(recipe.target).suffix.lower():
            return False
        with publish(recipe.output) as part:
            shutil.copyfile(recipe.target, part)
        self.report.marks = Marks(recipe.marks)  # Nothing was made; what the target says of itself holds.
        return True

"""The Python door: `swap` for one job, `run` for a recipe, `Runner` and `Swapper` for many with warm networks."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from mien.errors import UsageError
from mien.faces.track import Tracker
from mien.pipeline.casting import cast_live
from mien.pipeline.dispatch import make_guard, run_job
from mien.pipeline.effects import check_effects, make_effects
from mien.pipeline.guard import Permit
from mien.pipeline.live import LiveScene
from mien.pipeline.plan import Plan, make_plan
from mien.pipeline.progress import Progress, ProgressCallback
from mien.pipeline.roles import permitted_roles
from mien.pipeline.scene import Scene
from mien.pipeline.stamp import make_stamp
from mien.pipeline.workshop import Workshop
from mien.recipe import Recipe
from mien.report import Report
from mien.trust.kept import KeptEmbeddings
from mien.trust.policy import Policy

__all__ = ["Plan", "Progress", "Runner", "Swapper", "plan", "run", "swap"]

PathLike = str | os.PathLike[str]
Sources = PathLike | Sequence[PathLike]
PolicyLike = Policy | str | Path | None


def swap(
    sources: Sources,
    target: PathLike,
    output: PathLike,
    *,
    progress: ProgressCallback | None = None,
    cancelled: Callable[[], bool] | None = None,
    policy: PolicyLike = None,
    **options: Any,
) -> Report:
    """Put the face of `sources` onto the people in `target` and write `output`.

        report = mien.swap("portrait.jpg", "clip.mp4", "result.mp4", faces="largest")

    Args:
        sources: one picture, or several of the same person.
        target: a picture, an animation or a video.
        output: the file to write.
        progress: called about ten times a second.
        cancelled: asked about ten times a second; True stops the job. A threading.Event's `is_set` will do.
        policy: what is asked of every job, or the file that says so; None = the installation's own.
        **options: any other field of `Recipe`.

    Raises:
        MienError: one of its kinds; see `mien.errors`.
    """
    recipe = _recipe(options, sources=_names(sources), target=target, output=output)
    return run(recipe, progress=progress, cancelled=cancelled, policy=policy)


def run(
    recipe: Recipe,
    *,
    progress: ProgressCallback | None = None,
    cancelled: Callable[[], bool] | None = None,
    policy: PolicyLike = None,
) -> Report:
    """Do one job.

    Args:
        recipe: what to do.
        progress: called about ten times a second.
        cancelled: asked about ten times a second; True stops the job.
        policy: what is asked of every job, or the file that says so; None = the installation's own.

    Raises:
        MienError: one of its kinds. `Interrupted` if it was cancelled or by Ctrl-C: finished parts of a video are
            kept, and the same recipe with `resume` goes on from there.
    """
    with Runner(policy) as runner:
        return runner.run(recipe, progress=progress, cancelled=cancelled)


def plan(recipe: Recipe, *, policy: PolicyLike = None) -> Plan:
    """What `run` would do, from the headers of the target alone.

    Raises:
        PolicyError: the recipe asks for less than the policy.
        MienError: the job cannot be done as the recipe says.
    """
    holds = find_policy(policy)
    recipe = holds.apply(recipe)
    holds.check_output(recipe)
    return make_plan(recipe)


class Runner:
    """Does any number of jobs; networks and source faces stay loaded between them. A context manager."""

    def __init__(self, policy: PolicyLike = None) -> None:
        """Args:
        policy: what is asked of every job, or the file that says so; None = the installation's own.

        Raises:
            PolicyError: the policy cannot be read, so no job is done.
        """
        self.policy = find_policy(policy)
        self._workshops: dict[tuple[str, str], Workshop] = {}

    def run(
        self,
        recipe: Recipe,
        *,
        progress: ProgressCallback | None = None,
        cancelled: Callable[[], bool] | None = None,
        permit: Permit | None = None,
    ) -> Report:
        """Do one job; see `mien.pipeline.api.run`.

        `permit` is asked before each segment and before the result is written; an error that it raises stops the job.
        """
        return run_job(
            recipe,
            self.workshop(recipe.device, recipe.precision),
            progress=progress or (lambda _progress: None),
            cancelled=cancelled or (lambda: False),
            policy=self.policy,
            permit=permit,
        )

    def workshop(self, device: str, precision: str) -> Workshop:
        """What jobs on this device and in this precision share.

        Raises:
            EngineError: the device or precision is not there.
        """
        key = (device, precision)
        if key not in self._workshops:
            self._workshops[key] = Workshop(device, precision, embeddings=self._embeddings())
        return self._workshops[key]

    def _embeddings(self) -> KeptEmbeddings | None:
        """Where embeddings of pictures are kept, if the policy says so."""
        if self.policy.embedding_cache is None:
            return None
        return KeptEmbeddings(self.policy.folder, self.policy.retention_days)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        for workshop in self._workshops.values():
            workshop.close()
        self._workshops.clear()


class Swapper:
    """One person's face, ready for any number of targets or for the frames of a live stream.

    with mien.Swapper("portrait.jpg") as swapper:
        swapper.run("clip.mp4", "result.mp4")
        for picture in camera:
            show(swapper.frame(picture))
    """

    def __init__(self, sources: Sources = (), *, policy: PolicyLike = None, **options: Any) -> None:
        """Load networks and build the source face.

        Args:
            sources: one picture, or several of the same person; none where `map` names its own.
            policy: what is asked of every job, or the file that says so; None = the installation's own.
            **options: any field of `Recipe` but target and output.

        Raises:
            RecipeError: an option is unknown or wrong.
            NoFaceError, UnfitSourceError, UnreadableError: a source picture cannot be used.
            PolicyError: what it shows, or whose face it is, is refused.
        """
        self._options = {**options, "sources": _names(sources)}
        self._recipe = _recipe(self._options, target="-", output="-")
        self._runner = Runner(policy)
        self._live: LiveScene | None = None
        self._stamp = make_stamp(self._recipe, secrets.token_hex(16))
        self._workshop = self._runner.workshop(self._recipe.device, self._recipe.precision)
        self._recipe = self._runner.policy.apply(self._recipe)
        check_effects(self._recipe)
        self._networks = self._workshop.networks(self._recipe)
        self._guard = make_guard(self._recipe, self._runner.policy, self._workshop)
        with self._guard.noted():
            self._guard.begin()
            self._roles = permitted_roles(self._recipe, self._workshop, self._networks, self._guard)

    def run(
        self, target: PathLike, output: PathLike, *, progress: ProgressCallback | None = None, **options: Any
    ) -> Report:
        """Do a whole picture, animation or video.

        Args:
            target: what to change.
            output: the file to write.
            progress: called about ten times a second.
            **options: fields of `Recipe` that differ from the swapper's own for this target.

        Raises:
            MienError: as `run` does.
        """
        recipe = _recipe({**self._options, **options}, target=target, output=output)
        return self._runner.run(recipe, progress=progress)

    def frame(self, picture: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """The next frame of a live stream, edited. Faces are followed from call to call.

        Args:
            picture: RGB uint8 (height, width, 3); it stays as it is.

        Raises:
            UsageError: the array has another shape or type.
            PolicyError: what is shown is refused, a consent no longer holds, or the policy asks for marks, which
                frames of a stream cannot carry.
        """
        _check_frame(picture)
        if self._live is None:
            self._runner.policy.check_stream()
            self._networks.sharing.check_stream()
            if self._stamp is not None:
                self._stamp.note(self._runner.policy.folder, self._recipe)
            self._live = LiveScene(self._scene(), self._guard, self._stamp)
        return self._live.edit(picture)

    def _scene(self) -> Scene:
        role_of = self._guard.cast(cast_live(self._recipe, self._workshop.references(self._recipe)))
        effects = make_effects(self._recipe, self._roles, self._networks)
        analyser = self._networks.finding(self._workshop.analyser)
        return Scene(Tracker(analyser), effects, role_of, self._networks.refiner)

    def reset(self) -> None:
        """Forget the faces of the stream: the next `frame` begins another one."""
        self._live = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.reset()
        self._runner.__exit__(kind, error, at)


def find_policy(policy: PolicyLike) -> Policy:
    """The policy itself, that of a file, or the installation's own.

    Raises:
        PolicyError: it cannot be read.
    """
    return policy if isinstance(policy, Policy) else Policy.find(policy)


def _names(sources: Sources) -> tuple[str, ...]:
    if isinstance(sources, str | os.PathLike):
        return (os.fspath(sources),)
    return tuple(os.fspath(source) for source in sources)


def _recipe(options: dict[str, Any], **fields: Any) -> Recipe:
    plain = {name: os.fspath(value) if isinstance(value, os.PathLike) else value for name, value in fields.items()}
    return Recipe.from_mapping({**options, **plain})


def _check_frame(picture: object) -> None:
    if not isinstance(picture, np.ndarray):
        raise UsageError(f"a frame is a NumPy array, RGB uint8 (height, width, 3), got {type(picture).__name__}")
    if picture.ndim != 3 or picture.shape[2] != 3 or picture.dtype != np.uint8 or 0 in picture.shape:
        raise UsageError(f"a frame is RGB uint8 (height, width, 3), got {picture.dtype} {picture.shape}")

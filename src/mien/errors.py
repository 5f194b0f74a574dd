"""The errors of mien, one tree.

    MienError
    ├── UsageError             a call that makes no sense                    exit 2
    │   └── RecipeError        a recipe that does not hold together
    ├── PolicyError            refused by policy                             exit 3
    │   ├── ContentRefused     what is shown is not to be worked on
    │   └── ConsentError       whoever is shown has not agreed, or has been barred
    ├── Interrupted            stopped by the user, finished parts are kept  exit 4
    └── JobError               the work could not be done                    exit 1
        ├── MediaError         a file that cannot be read or written
        │   ├── UnreadableError
        │   ├── UnwritableError
        │   └── UnsupportedMediaError
        ├── FaceError          faces that do not fit the job
        │   ├── NoFaceError
        │   └── UnfitSourceError
        ├── ModelError         a network that is missing or not what it says
        ├── VaultError         keys or records of this installation that cannot be used
        ├── EngineError        an engine, device or precision that is not there
        └── InstallationError  a part of mien itself that is missing or of another version

Every message says what was given, what is wrong and what to do.
"""


class MienError(Exception):
    """Root of every error that mien raises on purpose."""

    exit_code = 1


class UsageError(MienError):
    """A call or option that makes no sense."""

    exit_code = 2


class RecipeError(UsageError):
    """A recipe whose fields are unknown, of the wrong type or at odds with each other."""


class PolicyError(MienError):
    """The job is refused by policy."""

    exit_code = 3
    problem = "policy_refused"
    """What is the matter, for programs."""


class ContentRefused(PolicyError):
    """What a source, the target or the result shows is refused, or cannot be looked at."""

    problem = "content_refused"

    def __init__(self, message: str, times_s: tuple[float, ...] = ()) -> None:
        super().__init__(message)
        self.times_s = times_s
        """Of the frames that were refused, in seconds from the start; empty for pictures."""


class ConsentError(PolicyError):
    """A job without a valid consent of the person whose face appears, or with a face that is barred."""

    problem = "consent_refused"


class Interrupted(MienError):
    """The user stopped the job. What was finished is kept and `resume` goes on from there."""

    exit_code = 4


class JobError(MienError):
    """The work could not be done."""


class MediaError(JobError):
    """A picture or video that cannot be read or written."""


class UnreadableError(MediaError):
    """A file that is missing, damaged or not a picture or video."""


class UnwritableError(MediaError):
    """An output that cannot be written: no permission, no space, already there."""


class UnsupportedMediaError(MediaError):
    """A codec, container or pixel format that this installation cannot handle."""


class FaceError(JobError):
    """Faces that do not fit the job."""


class NoFaceError(FaceError):
    """No face where one is needed."""


class UnfitSourceError(FaceError):
    """A source face that cannot be used: profile, covered, blurred or tiny."""


class ModelError(JobError):
    """A network file that is missing, damaged or not what it says it is."""


class VaultError(JobError):
    """Keys, records or logs of this installation that are damaged, or cannot be read or written."""


class EngineError(JobError):
    """An engine, device or precision that this machine does not have."""


class InstallationError(JobError):
    """A part of mien itself that is missing or of another version."""

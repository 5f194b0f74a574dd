"""How much of an edit should show on a face: policy as pure functions."""

from __future__ import annotations

from mien.faces.face import Pose

YAW_FULL, YAW_NONE = 42.0, 58.0
"""Degrees of yaw, as landmarks show it, up to which a face is edited in full, and from which on not at all.

The landmarker sees less yaw than there is (measured on turned portraits: 17 for 20, 32 for 40, 44 for 60, 49 for 70):
this is about 55 to 75 degrees, where half the face is hidden and its landmarks are a guess."""
PITCH_FULL, PITCH_NONE = 35.0, 50.0
"""The same for pitch."""
SCORE_FULL, SCORE_NONE = 0.75, 0.35
"""Presence from which on a face is edited in full, and below which not at all."""
STEP = 1 / 3
"""Largest change of the fade from frame to frame: in or out within three frames."""


def visible_part(pose: Pose, score: float) -> float:
    """0..1 for a face of that pose and presence, taken alone."""
    yaw = ramp(abs(pose.yaw), YAW_NONE, YAW_FULL)
    pitch = ramp(abs(pose.pitch), PITCH_NONE, PITCH_FULL)
    return yaw * pitch * ramp(score, SCORE_NONE, SCORE_FULL)


def approach(fade: float, wanted: float) -> float:
    """The next frame's fade on the way to the wanted one."""
    return fade + min(max(wanted - fade, -STEP), STEP)


def ramp(value: float, none: float, full: float) -> float:
    """0 at `none`, 1 at `full`, a smooth step between (whichever is larger)."""
    part = min(max((value - none) / (full - none), 0.0), 1.0)
    return part * part * (3 - 2 * part)


def flags(pose: Pose, score: float, missed: int, velocity: float) -> tuple[str, ...]:
    """Why a frame may need a look."""
    reasons = {
        "profile": abs(pose.yaw) > YAW_FULL or abs(pose.pitch) > PITCH_FULL,
        "low-score": score < SCORE_FULL,
        "lost": missed > 0,
        "fast": velocity > 0.25,
    }
    return tuple(name for name, holds in reasons.items() if holds)

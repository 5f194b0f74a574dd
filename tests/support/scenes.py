"""Scenes that several tests, the benchmarks and the demo share."""

from __future__ import annotations

from fractions import Fraction

from support.animate import Actor, Light, Motion, Occluder, Scene, constant, pulses, ramp, wave
from support.people import still
from support.props import hand, microphone, studio
from support.puppet import Puppet


def talking_head(
    puppet: Puppet,
    *,
    width: int = 640,
    height: int = 360,
    seconds: float = 2.0,
    rate: Fraction = Fraction(25),
    size: float = 0.45,
    angle: float = 15.0,
    noise: float = 1.0,
) -> Scene:
    """A person who turns, nods, tilts, blinks and talks before their own background.

    Args:
        puppet: who.
        width, height: of the frame.
        seconds: length.
        rate: frames a second.
        size: of the face, see `Actor`.
        angle: the most that the head turns, degrees.
        noise: see `Scene`.
    """
    motion = Motion(
        yaw=wave(angle, 3.1),
        pitch=wave(0.6 * angle, 2.3, phase=0.2),
        roll=wave(0.5 * angle, 3.7, phase=0.5),
        sway=wave(0.08, 2.9),
        bob=wave(0.04, 1.7),
        blink=pulses([0.5 + 1.3 * i for i in range(int(seconds) + 2)], 0.32),
        mouth=lambda t: max(0.0, wave(0.45, 0.9)(t) * (0.6 + 0.4 * wave(1, 2.6)(t))),
        smile=wave(0.3, 4.1),
        y=constant(0.52),
    )
    return Scene(
        width=width,
        height=height,
        actors=(Actor(puppet, motion, size),),
        frames=round(seconds * rate),
        rate=rate,
        noise=noise,
    )


def crossing(
    near: Puppet,
    far: Puppet,
    *,
    width: int = 640,
    height: int = 360,
    seconds: float = 2.0,
    rate: Fraction = Fraction(25),
    size: float = 0.34,
) -> Scene:
    """Two people who walk past each other in a room; the near one hides the far one in the middle."""
    walks = (
        Motion(x=ramp(0.75, 0.25, 0, seconds), y=wave(0.01, 0.7, offset=0.55), yaw=wave(8, 2.3)),
        Motion(x=ramp(0.22, 0.78, 0, seconds), y=wave(0.012, 0.6, offset=0.57), yaw=wave(8, 1.9, phase=0.3)),
    )
    return Scene(
        width=width,
        height=height,
        actors=(Actor(far, walks[0], size), Actor(near, walks[1], 1.1 * size)),
        frames=round(seconds * rate),
        rate=rate,
        backdrop=studio(width, height),
        noise=1.0,
    )


def covered(
    puppet: Puppet,
    *,
    width: int = 640,
    height: int = 360,
    seconds: float = 2.0,
    rate: Fraction = Fraction(25),
    size: float = 0.45,
    with_microphone: bool = False,
) -> Scene:
    """A hand (or a microphone) that crosses a face from the left to the right of the picture."""
    return Scene(
        width=width,
        height=height,
        actors=(Actor(puppet, Motion(yaw=wave(6, 2.1), blink=pulses([0.4], 0.3)), size),),
        frames=round(seconds * rate),
        rate=rate,
        occluder=Occluder(
            sprite=microphone() if with_microphone else hand(),
            x=ramp(-0.1, 1.1, 0, seconds),
            y=wave(0.03, 1.3, offset=0.78),
            size=1.3 * size * 1.4,
            angle=wave(12, 1.7),
        ),
        noise=1.0,
    )


def changing_light(
    puppet: Puppet,
    *,
    width: int = 640,
    height: int = 360,
    seconds: float = 2.0,
    rate: Fraction = Fraction(25),
    size: float = 0.45,
) -> Scene:
    """A person in light that grows dimmer, warmer and more one-sided, and comes back."""
    return Scene(
        width=width,
        height=height,
        actors=(Actor(puppet, Motion(yaw=wave(8, 2.1), bob=wave(0.05, 1.1)), size),),
        frames=round(seconds * rate),
        rate=rate,
        light=Light(gain=wave(0.45, seconds, offset=0.9), warmth=wave(0.25, seconds), side=wave(0.5, seconds)),
        noise=1.0,
    )


def sample_clip() -> Scene:
    """The clip of the demo, `samples/target.mp4`: six seconds of a person who turns, nods, blinks and talks."""
    person = still("grace_hopper")
    motion = Motion(
        yaw=lambda t: wave(13, 4.3)(t) + wave(4, 1.9, phase=0.3)(t),
        pitch=lambda t: wave(6, 3.1, phase=0.2)(t) + wave(2, 1.1)(t),
        roll=wave(6, 5.3, phase=0.4),
        sway=wave(0.07, 3.7),
        bob=wave(0.03, 1.6),
        zoom=lambda t: 1 + 0.012 * t,
        blink=pulses([0.9, 2.6, 3.0, 4.7], 0.3),
        mouth=lambda t: max(0.0, wave(0.3, 0.52)(t) * wave(0.6, 2.9, offset=0.5)(t)),
        smile=wave(0.35, 4.9, phase=0.6),
        y=constant(0.56),
    )
    return Scene(
        width=854,
        height=480,
        actors=(Actor(person, motion, 0.42),),
        frames=150,
        light=Light(gain=wave(0.07, 5.0, offset=1), side=wave(0.1, 6.3)),
        noise=1.2,
    )

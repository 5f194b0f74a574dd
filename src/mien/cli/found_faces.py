"""What `mien faces` found, as a list, as plain data and as a contact sheet."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mien.cli.console import count_of, format_moment, table
from mien.cli.findings import Findings, Sighting
from mien.cli.sheet import Group, Portrait, draw_sheet

MAX_PORTRAITS = 24
"""Faces of one person on the sheet; of more, some spread evenly are shown."""


def letter(person: int) -> str:
    """`A` for the first person, `Z` for the 26th, then `AA`."""
    text = ""
    person += 1
    while person:
        person, digit = divmod(person - 1, 26)
        text = chr(ord("A") + digit) + text
    return text


def format_list(findings: Findings) -> str:
    """One line a face, one line a person, and a line that sums up."""
    if not findings.sightings:
        return f"{_looked_at(findings)}: no face found"
    moving = findings.kind != "picture"
    rows = [[*(["time", "frame"] if moving else []), "person", "place", "size", "score", "yaw", "pitch", "roll"]]
    for sighting in findings.sightings:
        when = [format_moment(sighting.time_s), str(sighting.frame)] if moving else []
        rows.append([*when, *_row(sighting)])
    numbers = [column for column, name in enumerate(rows[0]) if name != "person"]
    persons = [["person", "faces", "first seen in frame", "chosen by"]]
    for person in findings.people.persons:
        row = [letter(person.index), str(person.seen), str(person.first.frame), f"--faces {person.rank}"]
        persons.append(row)
    found = count_of(len(findings.sightings), "face", "faces")
    people = count_of(len(findings.people.persons), "person", "people")
    return "\n\n".join(
        [table(rows, right=numbers), table(persons, right=[1, 2]), f"{_looked_at(findings)}: {found}, {people}"]
    )


def to_mapping(findings: Findings) -> dict[str, Any]:
    """Plain data, ready for JSON. Boxes are left, top, right, bottom in pixels, angles degrees."""
    return {
        "file": findings.file,
        "kind": findings.kind,
        "width": findings.width,
        "height": findings.height,
        "frames": findings.frames,
        "sampled": findings.sampled,
        "people": [
            {"person": letter(person.index), "faces": person.seen, "number_from_left": person.rank}
            for person in findings.people.persons
        ],
        "faces": [
            {
                "frame": sighting.frame,
                "time_s": round(sighting.time_s, 6),
                "person": letter(sighting.person),
                "box": [round(float(edge), 1) for edge in sighting.face.box],
                "score": round(sighting.face.score, 4),
                "pose": {name: round(float(angle), 1) for name, angle in sighting.face.pose._asdict().items()},
            }
            for sighting in findings.sightings
        ],
    }


def draw(findings: Findings) -> NDArray[np.uint8]:
    """The contact sheet as RGB (height, width, 3): the faces of each person in order of time."""
    groups: list[Group] = []
    for person in findings.people.persons:
        members = [sighting for sighting in findings.sightings if sighting.person == person.index]
        summary = f"{_summary(members, findings)}   --faces {person.rank}"
        groups.append(Group(f"Person {letter(person.index)}", summary, _portraits(members, findings)))
    title = f"{Path(findings.file).name}   {findings.width} x {findings.height}   {_looked_at(findings, named=False)}"
    return draw_sheet(title, groups)


def _row(sighting: Sighting) -> list[str]:
    left, top, right, bottom = (round(float(edge)) for edge in sighting.face.box)
    angles = [f"{angle:+.0f}" for angle in sighting.face.pose]
    size = f"{right - left} x {bottom - top}"
    return [letter(sighting.person), f"{left},{top}", size, f"{sighting.face.score:.2f}", *angles]


def _looked_at(findings: Findings, *, named: bool = True) -> str:
    if findings.kind == "picture":
        return findings.file if named else ""
    looked = f"{findings.sampled} of {count_of(findings.frames, 'frame', 'frames')} looked at"
    return f"{findings.file}, {looked}" if named else looked


def _summary(members: Sequence[Sighting], findings: Findings) -> str:
    text = count_of(len(members), "face", "faces")
    if findings.kind != "picture":
        text += f", {format_moment(members[0].time_s)} to {format_moment(members[-1].time_s)}"
    if len(members) > MAX_PORTRAITS:
        text += f", {MAX_PORTRAITS} of them shown"
    return text


def _portraits(members: Sequence[Sighting], findings: Findings) -> list[Portrait]:
    shown = min(len(members), MAX_PORTRAITS)
    chosen = [members[number * len(members) // shown] for number in range(shown)]
    return [Portrait(member.crop, _label(member, findings)) for member in chosen]


def _label(member: Sighting, findings: Findings) -> tuple[str, str]:
    pose = f"yaw {member.face.pose.yaw:+.0f}, pitch {member.face.pose.pitch:+.0f}"
    if findings.kind == "picture":
        return f"score {member.face.score:.2f}", pose
    return f"{format_moment(member.time_s)}   score {member.face.score:.2f}", pose

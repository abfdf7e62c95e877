"""BVH: a skeleton and the frames of one motion, in text.

Rotations are in degrees about the axes that CHANNELS names, each in the frame after the previous one. So a bone's
rotation is the product in the order of the file. The root's position channels replace its OFFSET. Position channels of
other bones must be constant: bones do not stretch, and OFFSET gives their lengths.
"""

import re
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from cylcollide._types import Float64Array
from cylcollide.characters import quaternions
from cylcollide.constants import LARGEST_NUMBER

CHANNEL = re.compile(r"([xyz])(position|rotation)", re.IGNORECASE)
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", re.IGNORECASE)


@dataclass
class Bone:
    """A ROOT or JOINT and the columns of its channels."""

    name: str
    parent: int
    line: int
    offset: list[float] = field(default_factory=list)
    end_site: list[float] = field(default_factory=list)
    channels: list[tuple[int, str]] | None = None  # axis 0, 1, 2, and "position" or "rotation"


class _Lines:
    """Iterates over the non-empty lines of a file, with the number of the present line."""

    def __init__(self, file: Path) -> None:
        self.file = file
        text = _text(file.read_bytes())
        self.rows = [(number, row) for number, line in enumerate(text.splitlines(), 1) if (row := line.split())]
        self.position = 0  # the row of the next line
        self.number = 0

    def next(self, expected: str) -> list[str]:
        """The words of the next line."""
        if self.position == len(self.rows):
            self.number += 1
            self.refuse(expected, "the end of the file", "the file is cut off: fetch or export it again")
        self.number, words = self.rows[self.position]
        self.position += 1
        return words

    def keyword(self, keyword: str) -> list[str]:
        """The words after a keyword, with which the next line must begin."""
        words = self.next(keyword)
        count = len(keyword.split())
        if " ".join(words[:count]).upper() != keyword.upper():
            self.refuse(keyword, " ".join(words))
        return words[count:]

    def numbers(self, words: list[str], count: int, what: str) -> list[float]:
        """The `count` numbers that the words of a line must be."""
        if len(words) != count:
            self.refuse(f"{count} numbers, {what}", f"{len(words)}")
        wrong = [word for word in words if not NUMBER.fullmatch(word) or abs(float(word)) > LARGEST_NUMBER]
        if wrong:
            self.refuse(f"finite numbers of magnitude at most 2**500, {what}", wrong[0])
        return [float(word) for word in words]

    def refuse(self, expected: str, got: str, remedy: str = "correct the line or export the file again") -> NoReturn:
        """Raise ValueError at the present line."""
        raise ValueError(f"{self.file}, line {self.number}: expected {expected}, got {got[:80]!r}; {remedy}")


def _text(content: bytes) -> str:
    """The text of a file in UTF-8, or in Windows-1252, which has the letters of Latin-1."""
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return content.decode("cp1252", errors="replace")


def read(path: str | PathLike[str]) -> tuple[Any, ...]:
    """The arguments of `Clip` for a file, in its units and axes; errors as of `Clip.load_bvh`.

    A bone's tip is the OFFSET of its first child or its End Site.
    """
    lines = _Lines(Path(path))
    bones = _hierarchy(lines)
    offsets = np.array([bone.offset for bone in bones])
    tips = np.array([bone.end_site or [0.0, 0.0, 0.0] for bone in bones])
    for bone in reversed(bones[1:]):  # the first child is written last
        tips[bone.parent] = bone.offset
    frames = lines.numbers(lines.keyword("Frames:"), 1, "after Frames:")[0]
    if frames < 1.0 or frames != int(frames):
        lines.refuse("a whole number of frames, one or more", str(frames))
    count = int(frames)
    seconds = lines.numbers(lines.keyword("Frame Time:"), 1, "after Frame Time:")[0]
    if seconds <= 0.0:
        lines.refuse("seconds > 0", str(seconds))
    values = _values(lines, count, sum(len(bone.channels or ()) for bone in bones))
    positions, turns = _posed(lines, bones, offsets, values)
    times = np.arange(count) * seconds
    return tuple(b.name for b in bones), [b.parent for b in bones], offsets, times, positions, turns, tips


def _hierarchy(lines: _Lines) -> list[Bone]:
    """All bones, parents before their children, up to the line MOTION."""
    lines.keyword("HIERARCHY")
    bones = [Bone(" ".join(lines.keyword("ROOT")), -1, lines.number)]
    lines.keyword("{")
    open_bones = [0]  # rows of the bones whose braces are open, the innermost last
    while open_bones:
        bone = bones[open_bones[-1]]
        words = lines.next("OFFSET, CHANNELS, JOINT, End Site or }")
        match words[0].upper():
            case "OFFSET" if not bone.offset:
                bone.offset = lines.numbers(words[1:], 3, "x, y and z of the offset")
            case "CHANNELS" if bone.channels is None:
                bone.channels = _channels(lines, words[1:])
            case "JOINT":
                bones.append(Bone(" ".join(words[1:]), open_bones[-1], lines.number))
                lines.keyword("{")
                open_bones.append(len(bones) - 1)
            case "END" if not bone.end_site and " ".join(words[1:]).upper() == "SITE":
                lines.keyword("{")
                bone.end_site = lines.numbers(lines.keyword("OFFSET"), 3, "x, y and z of the End Site")
                lines.keyword("}")
            case "}" if bone.offset:
                open_bones.pop()
            case _:
                lines.refuse(f"OFFSET and CHANNELS once each, JOINT, End Site or }} in {bone.name}", " ".join(words))
    names = set[str]()
    for bone in bones:
        if not bone.name or bone.name in names:
            lines.number = bone.line
            lines.refuse("a unique name", bone.name, "rename the bone")
        names.add(bone.name)
    lines.keyword("MOTION")
    return bones


def _channels(lines: _Lines, words: list[str]) -> list[tuple[int, str]]:
    """Axis and kind of each channel of a CHANNELS line."""
    matches = [CHANNEL.fullmatch(word) for word in words[1:]]
    channels = [("xyz".index(m[1].lower()), m[2].lower()) for m in matches if m]
    if words[:1] != [str(len(channels))] or len(channels) != len(matches) or len(set(channels)) != len(channels):
        lines.refuse("a count and so many different channels, such as 3 Zrotation Yrotation Xrotation", " ".join(words))
    return channels


def _values(lines: _Lines, count: int, columns: int) -> Float64Array:
    """All frames, (f, columns)."""
    rows = [
        lines.numbers(lines.next(f"frame {number + 1} of {count}"), columns, "one per channel")
        for number in range(min(count, len(lines.rows) - lines.position + 1))
    ]
    if lines.position < len(lines.rows):
        extra = lines.next("")
        lines.refuse(f"the end of the file after {count} frames", " ".join(extra))
    return np.array(rows).reshape(count, columns)


def _posed(
    lines: _Lines, bones: list[Bone], offsets: Float64Array, values: Float64Array
) -> tuple[Float64Array, Float64Array]:
    """Root positions (f, 3) and quaternions (f, b, 4) from the values of the channels."""
    turns = np.tile(quaternions.IDENTITY, (len(values), len(bones), 1))
    positions = np.tile(offsets[0], (len(values), 1))
    column = 0
    for row, bone in enumerate(bones):
        for axis, kind in bone.channels or ():
            channel = values[:, column]
            if kind == "rotation":
                turns[:, row] = quaternions.product(turns[:, row], quaternions.about_axis(axis, np.radians(channel)))
            elif row == 0:
                positions[:, axis] = channel
            elif np.ptp(channel) > 1e-3 * (np.abs(channel).max() + np.abs(offsets).max()):
                lines.number = bone.line
                lines.refuse("constant positions of all bones but the root", bone.name, "export rotations only")
            column += 1
    return positions, quaternions.normalised(turns)

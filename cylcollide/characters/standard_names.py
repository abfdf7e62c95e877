"""Hit groups of bones by the bone names of Mixamo, VRM, Unreal, SMPL and motion capture."""

import re
from collections.abc import Mapping, Sequence

from cylcollide._types import Int32Array
from cylcollide.characters.sides import SIDE, without_side

GROUPS: Mapping[str, int] = {"head": 1, "torso": 2, "arm": 3, "leg": 4}
"""The hit groups of `Rig.humanoid`: the torso with the neck, arms with hands, legs with feet."""

PREFIX = re.compile(r"^(?:.*:)?(?:mixamorig\d*|J_(?:Bip|Sec|Adj)_(?:C_)?)?")
"""Prefixes that tools add to each name: mixamorig:Hips, J_Bip_C_Hips."""

END = r"(joint|base|twist|roll|top|end|nub)*\d*"
WORDS: Mapping[str, re.Pattern[str]] = {
    "head": re.compile(rf"(head|skull|eye|jaw){END}"),
    "torso": re.compile(rf"(hips|pelvis|abdomen|lowerback|spine|chest|upperchest|neck|clavicle|collar|shoulder){END}"),
    "arm": re.compile(
        rf"(upper|fore|lower)?arm{END}|(elbow|wrist){END}|(hand|finger|thumb|index|middle|ring|pinky|little).*"
    ),
    "leg": re.compile(rf"(up|upper|lower)?leg{END}|(thigh|calf|shank|shin|hip|knee|ankle|ball){END}|(foot|toe).*"),
}
"""Patterns of names, in lower case, without prefix, side, and characters other than letters and digits."""

SMPL_ARM = "shoulder"
"""In SMPL the joint of the upper arm; in other skeletons, which have a bone named arm, the collar bone."""


def group_of_each(bone_names: Sequence[str], parents: Int32Array) -> list[str | None]:
    """The group of each bone: by its name, else that of its parent; None if no ancestor has a known name."""
    words = [_word(name) for name in bone_names]
    has_arms = any(re.fullmatch(r"(upper)?arm", word) for word in words)
    groups: list[str | None] = []
    for word, parent in zip(words, parents.tolist(), strict=True):
        known = next((group for group, pattern in WORDS.items() if pattern.fullmatch(word)), None)
        if word == SMPL_ARM and not has_arms:
            known = "arm"
        groups.append(known or (groups[parent] if parent >= 0 else None))
    return groups


def _word(name: str) -> str:
    """The part of a name that denotes a part of the body."""
    return re.sub(r"[^a-z0-9]", "", without_side(PREFIX.sub("", name)).lower())


# Parts of a person -------------------------------------------------------------------------------------------------

PARTS: Mapping[str, re.Pattern[str]] = {
    "hips": re.compile(r"hips|pelvis|root|hip"),
    "torso": re.compile(r"(abdomen|lowerback|spine|chest|upperchest|torso)\d*"),
    "neck": re.compile(r"neck\d*"), "head": re.compile(r"head"),
    "shoulder": re.compile(r"shoulder|clavicle|collar"), "upperarm": re.compile(r"(upper)?arm|uparm"),
    "lowerarm": re.compile(r"(fore|lower)arm|elbow"), "hand": re.compile(r"hand|wrist"),
    "upperleg": re.compile(r"(up|upper)leg|thigh|hip"), "lowerleg": re.compile(r"(lower)?leg|calf|shank|shin|knee"),
    "foot": re.compile(r"foot|ankle"), "toes": re.compile(r"toe|toes|toebase|ball"),
}  # fmt: skip
CENTRAL = ("hips", "torso", "neck", "head")
STRAIGHT = tuple(
    f"{side} {part}" for side in ("left", "right") for part in ("upperarm", "lowerarm", "upperleg", "lowerleg")
)
"""Roles of bones whose direction at rest is that of a limb."""
LEGS = tuple(f"{side} {part}" for side in ("left", "right") for part in ("lowerleg", "foot"))
"""Roles of bones whose distances from their parents are the lengths of the parts of a leg."""


def is_left(name: str) -> bool:
    """Whether a name has a side and it is the left one."""
    found = SIDE.search(PREFIX.sub("", name))
    return found is not None and found[0].lower() in ("left", "l")


def roles(names: Sequence[str]) -> dict[str, int]:
    """Rows of bones by their role, the part of a person, such as "left upperarm" and "neck"; the first bone of each.

    The first bone of the trunk is "spine", the last "chest", and those between are "spine1" ...
    """
    words = [_word(name) for name in names]
    has_arms = any(PARTS["upperarm"].fullmatch(word) for word in words)
    both_ends = {"ankle", "foot"} <= set(words)  # SMPL: a foot begins at the toes
    found: dict[str, int] = {}
    trunk: list[int] = []
    for row, (name, word) in enumerate(zip(names, words, strict=True)):
        side = "" if SIDE.search(PREFIX.sub("", name)) is None else "left " if is_left(name) else "right "
        for part, pattern in PARTS.items():
            if (part in CENTRAL) == (side == "") and pattern.fullmatch(word):
                if word == SMPL_ARM and not has_arms:
                    part = "upperarm"
                if word == "foot" and both_ends:
                    part = "toes"
                if part == "torso":
                    trunk.append(row)
                else:
                    found.setdefault(side + part, row)
                break
    for number, row in enumerate(trunk):
        found["chest" if number == len(trunk) - 1 else "spine" if number == 0 else f"spine{number}"] = row
    return found

"""Hit groups of bones by the names that Mixamo, VRM, Unreal, SMPL and motion capture give them."""

import re
from collections.abc import Mapping, Sequence

from cylcollide._types import Int32Array
from cylcollide.characters.sides import without_side

GROUPS: Mapping[str, int] = {"head": 1, "torso": 2, "arm": 3, "leg": 4}
"""As `Rig.humanoid` has them: the torso with the neck, arms with hands, legs with feet."""

PREFIX = re.compile(r"^(?:.*:)?(?:mixamorig\d*|J_(?:Bip|Sec|Adj)_(?:C_)?)?")
"""What a tool puts before each name: mixamorig:Hips, J_Bip_C_Hips."""

END = r"(joint|base|twist|roll|top|end|nub)*\d*"
WORDS: Mapping[str, re.Pattern[str]] = {
    "head": re.compile(rf"(head|skull|eye|jaw){END}"),
    "torso": re.compile(rf"(hips|pelvis|abdomen|lowerback|spine|chest|upperchest|neck|clavicle|collar|shoulder){END}"),
    "arm": re.compile(
        rf"(upper|fore|lower)?arm{END}|(elbow|wrist){END}|(hand|finger|thumb|index|middle|ring|pinky|little).*"
    ),
    "leg": re.compile(rf"(up|upper|lower)?leg{END}|(thigh|calf|shank|shin|hip|knee|ankle|ball){END}|(foot|toe).*"),
}
"""Names without prefix, side, case and what is no letter or digit."""

SMPL_ARM = "shoulder"
"""In SMPL the joint of the upper arm; elsewhere the collar bone, beside a bone that is called arm."""


def group_of_each(bone_names: Sequence[str], parents: Int32Array) -> list[str | None]:
    """The group of each bone: by its name, else as its parent has it; None where no bone above has a known name."""
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
    """What of a name tells the part of the body."""
    return re.sub(r"[^a-z0-9]", "", without_side(PREFIX.sub("", name)).lower())

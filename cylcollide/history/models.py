"""Models: what the limbs of recorded states are, wherever they were; and which model each row of a state is."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from cylcollide._types import NO_LIMB, Float64Array, Int32Array, Int64Array, Shape
from cylcollide.characters.rig import Rig
from cylcollide.limbs.limbs import Limbs
from cylcollide.limbs.tables import HAS_AXIS
from cylcollide.query.labels import NO_BONE
from cylcollide.recorded.limbs import CHARACTER_FIELDS, LIMB_FIELDS, MODEL_FIELDS, OWN_LAYERS
from cylcollide.runtime.memory import frozen
from cylcollide.world.layout import WorldLayout

NOBODY, STAYS = -1, -1


class Models:
    """The bare limbs of a state, then those of its rigs; ticks with the same limbs share one object."""

    def __init__(self, bare: Limbs, rigs: tuple[Rig, ...]) -> None:
        self.bare, self.rigs = bare, rigs
        parts = [bare, *(rig.limbs for rig in rigs)]
        limbs, boxes = Limbs.concat(parts), [len(part.table.boxes) for part in parts]
        t = limbs.table
        self.first: Int64Array = np.cumsum(list(map(len, parts)))[:-1]
        """Of each rig, its first model."""
        self.first_box: Int64Array = np.cumsum(boxes)[:-1]
        """Of each rig, its first row of `boxes`."""
        self.numbers = np.column_stack([t.p1, t.p2, t.radius, t.radius2])
        self.codes = codes = np.zeros(len(limbs), MODEL_FIELDS)
        codes["kind"], codes["shape"], codes["box"], codes["mask"] = t.kind, t.solid, t.box, t.mask
        codes["needs_axis"], codes["label"] = HAS_AXIS[t.kind], NOBODY
        codes["label"][: len(bare)] = bare.character
        codes["bone"] = np.concatenate([np.full(len(bare), NO_BONE), *(rig.limb_bone for rig in rigs)])
        own = (np.arange(len(rig.limbs)) for rig in rigs)
        self.rig_limb: Int32Array = np.concatenate([np.full(len(bare), NO_LIMB), *own]).astype(np.int32)
        """Limb of the rig, -1 for a bare limb."""
        self.boxes: Float64Array = t.boxes
        self.names: NDArray[Any] = frozen(np.array(limbs.names, object))
        self.hit_group: Int32Array = limbs.hit_group
        length = np.linalg.norm(self.numbers[:, 3:6] - self.numbers[:, :3], axis=1)
        self.rim: Float64Array = self.numbers[:, 6:].max(axis=1, initial=0.0)
        """Largest growth of a box around each as it turns about an end; 0 for spheres and capsules."""
        is_box = t.box >= 0
        self.local_box = np.zeros((len(limbs), 12))
        """Of each box its axes and half extents in the frame of its bone."""
        self.local_box[is_box] = t.boxes[t.box[is_box]]
        self.rim[is_box] = np.linalg.norm(self.local_box[is_box, 9:], axis=1)
        self.rim[np.isin(t.kind, (Shape.CAPSULE, Shape.SPHERE))] = 0.0
        ends = np.linalg.norm(self.numbers[:, :6].reshape(-1, 2, 3), axis=2)
        self.span: Float64Array = ends.max(axis=1, initial=0.0)
        """Largest distance of its axis from the origin of its bone."""
        self.most_growth = float((self.span + self.rim)[len(bare) :].max(initial=self.rim.max(initial=0.0)))
        """Largest growth of any box between two ticks, without rounding."""
        length[length == 0.0] = np.inf
        self.shortest: Float64Array = np.array([one.min(initial=np.inf) for one in np.split(length, self.first)[1:]])
        """Of each rig, its shortest axis."""

    def are_of(self, bare: Limbs, rigs: tuple[Rig, ...]) -> bool:
        """Whether these are the models of these bare limbs and rigs."""
        return self.bare is bare and len(self.rigs) == len(rigs) and all(map(_same, self.rigs, rigs))


def _same(one: object, other: object) -> bool:
    return one is other


class Structure:
    """The rows and characters of a state; ticks share it until a character comes, goes or changes its layers."""

    def __init__(self, layout: WorldLayout, models: Models) -> None:
        self.models, self.ids, self.rig = models, layout.ids, layout.rig
        self.bare, self.rows = len(layout.bare), layout.rows
        self.limb = limb = np.empty(layout.rows, LIMB_FIELDS)
        """As in `recorded.limbs.TickRows`, and so on."""
        limb["model"], limb["owner"][: self.bare] = layout.stacked_row, NOBODY
        limb["owner"][self.bare :] = np.repeat(np.arange(len(layout.ids)), layout.counts.rows)
        layers = np.repeat(layout.layers, layout.counts.rows)
        of_rig = models.codes["mask"][limb["model"]]
        of_rig[self.bare :] = np.where(layers == OWN_LAYERS, of_rig[self.bare :], layers)
        self.shared_layers = int(np.bitwise_and.reduce(of_rig))
        """The layers that all limbs are in."""
        self.characters = characters = np.zeros(len(layout.ids), CHARACTER_FIELDS)
        """Before it is known what follows."""
        characters["id"], characters["layers"] = layout.ids, layout.layers
        characters["first_row"], characters["rows"] = layout.first.rows, layout.counts.rows
        characters["first_bone"] = layout.first.bones
        characters["first_box"] = layout.first.boxes - models.first_box[layout.rig]
        characters["next_row"] = characters["next_bone"] = STAYS
        self.settled = settled = characters.copy()
        """The same of ordinary characters that all go on to a state of the same structure."""
        settled["next_row"], settled["next_bone"], settled["is_ordinary"] = layout.first.rows, layout.first.bones, 1

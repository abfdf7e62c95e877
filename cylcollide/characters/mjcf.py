"""Models of MJCF files as the arguments of `Rig`, parsed and compiled by MuJoCo."""

from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from cylcollide import validate
from cylcollide._types import Shape
from cylcollide._version import to_install
from cylcollide.bones.bone import composed
from cylcollide.characters import rig_parts
from cylcollide.characters.gltf_checks import unique_names
from cylcollide.characters.rig_parts import OtherShapes
from cylcollide.limbs.limbs import Limbs

WORLD = 0
"""The body of static geoms."""

TURNS = ((0.0, 0.5**0.5, 0.0, 0.5**0.5), (-(0.5**0.5), 0.0, 0.0, 0.5**0.5), (0.0, 0.0, 0.0, 1.0))
"""Quaternions that turn z to x, y and z."""


def rig_arguments(path: str | PathLike[str], mesh: OtherShapes) -> tuple[Any, ...]:
    """The arguments of the constructor of `Rig` for the model of a file; messages of errors do not name the file."""
    validate.one_of(mesh, "mesh", "raise", "skip")
    file = Path(path)
    file.read_bytes()  # an OSError with the name of the file
    try:
        import mujoco  # noqa: PLC0415  # an extra: imported only when used
    except ImportError:
        raise ImportError(f"Rig.from_mjcf needs mujoco: {to_install('rigs')}") from None
    try:
        model = mujoco.MjSpec.from_file(str(file)).compile()
    except ValueError as error:
        raise ValueError(f"expected MJCF that MuJoCo compiles, got {' '.join(str(error).split())}") from None
    try:
        model.names.decode()
    except UnicodeDecodeError:
        raise ValueError("expected names in UTF-8, got other bytes; save the file in UTF-8") from None
    if model.nbody == 1:
        raise ValueError("expected at least one body besides the world, got none; give the model a body")
    bodies = range(1, model.nbody)
    names = unique_names([model.body(i).name for i in bodies], [f"body_{i}" for i in bodies])
    paired = {*model.pair_geom1.tolist(), *model.pair_geom2.tolist()}
    parents = [int(parent) - 1 for parent in model.body_parentid[1:]]
    parts: list[tuple[int, Limbs]] = []
    for i in range(model.ngeom):
        body = int(model.geom_bodyid[i])
        if body != WORLD and (model.geom_contype[i] or model.geom_conaffinity[i] or i in paired):
            where = f"body {names[body - 1]!r}, geom {i} ({model.geom(i).name!r})"
            kind = mujoco.mjtGeom(int(model.geom_type[i])).name.removeprefix("mjGEOM_").lower()
            limb = _limb(model, i, kind, where)
            if limb is not None:
                parts.append((body - 1, limb))
            elif mesh == "raise":
                raise ValueError(
                    f"{where}: expected a sphere, capsule, cylinder, box or ellipsoid of revolution, got {kind} of "
                    f"size {model.geom_size[i].tolist()}; replace it by one of these, or leave it out with mesh='skip'"
                )
    turns = model.body_quat[1:][:, [1, 2, 3, 0]]
    return names, parents, np.array(model.body_pos[1:]), turns, *rig_parts.limbs_of(parts, names)


def _limb(model: Any, i: int, kind: str, where: str) -> Limbs | None:
    """A geom as a limb in the frame of its bone; None if no limb has its shape."""
    a, b, c = model.geom_size[i].tolist()
    position, (w, x, y, z) = tuple(model.geom_pos[i].tolist()), model.geom_quat[i].tolist()
    turn = (x, y, z, w)
    shapes: dict[str, tuple[Shape, tuple[float, ...]]] = {
        "sphere": (Shape.SPHERE, (a,)),
        "capsule": (Shape.CAPSULE, (a, 2.0 * b)),
        "cylinder": (Shape.CYLINDER, (a, 2.0 * b)),
        "box": (Shape.BOX, (a, b, c)),
    }
    for axis, (radius, other, half) in enumerate(((b, c, a), (c, a, b), (a, b, c))):
        if kind == "ellipsoid" and radius == other:
            shapes[kind], turn = (Shape.ELLIPSOID, (radius, half)), composed((x, y, z, w), TURNS[axis])
    if kind not in shapes:
        return None
    shape, sizes = shapes[kind]
    return rig_parts.part(shape, position, turn, sizes, model.geom(i).name, where)

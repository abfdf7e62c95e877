"""The four ways to construct a PyBullet body of a limb, which do not give the same body.

==============  ===================================================================================================
construction    calls
==============  ===================================================================================================
geom            ``createCollisionShape(GEOM_CYLINDER, ...)`` and ``createMultiBody``
urdf            ``loadURDF`` as it comes: a cylinder becomes a convex hull of a polygon
urdf-implicit   ``loadURDF`` with the flag ``URDF_USE_IMPLICIT_CYLINDER``
mjcf            ``loadMJCF``; sizes pass through float32
==============  ===================================================================================================
"""

from pathlib import Path
from typing import Literal, NamedTuple, TypeAlias

from cylcollide._pybullet import pybullet
from cylcollide._types import Shape

Construction: TypeAlias = Literal["geom", "urdf", "urdf-implicit", "mjcf"]
CONSTRUCTIONS: tuple[Construction, ...] = ("geom", "urdf", "urdf-implicit", "mjcf")

URDF = """<robot name="limb"><link name="limb">
<inertial><mass value="0"/><inertia ixx="0" ixy="0" ixz="0" iyy="0" iyz="0" izz="0"/></inertial>
<collision><geometry>{}</geometry></collision></link></robot>"""
MJCF = "<mujoco><worldbody><geom {}/></worldbody></mujoco>"


class BulletBody(NamedTuple):
    """One limb as PyBullet describes it: a solid centred at the origin along z, rotated and then translated."""

    kind: Shape
    radius: float
    length: float  # between p1 and p2
    half_extents: tuple[float, ...]  # of a box
    center: list[float]
    turn: tuple[float, ...]  # quaternion x, y, z, w


def add_body(body: BulletBody, construction: Construction, stem: Path, client: int) -> int:
    """Add a static body and return its number in PyBullet.

    `stem` is a path without suffix for a file, never used before: PyBullet caches files by name.
    """
    if construction == "geom":
        return _create(body, client)
    if construction == "mjcf":
        path = stem.with_suffix(".xml")
        path.write_text(MJCF.format(_mjcf_geometry(body)))
        added: int = pybullet.loadMJCF(str(path), physicsClientId=client)[0]
    else:
        path = stem.with_suffix(".urdf")
        path.write_text(URDF.format(_urdf_geometry(body)))
        flags = pybullet.URDF_USE_IMPLICIT_CYLINDER if construction == "urdf-implicit" else 0
        added = pybullet.loadURDF(str(path), useFixedBase=True, flags=flags, physicsClientId=client)
    pybullet.resetBasePositionAndOrientation(added, body.center, body.turn, physicsClientId=client)
    return added


def _create(body: BulletBody, client: int) -> int:
    match body.kind:
        case Shape.CYLINDER:
            sizes = {"shapeType": pybullet.GEOM_CYLINDER, "radius": body.radius, "height": body.length}
        case Shape.CAPSULE:
            sizes = {"shapeType": pybullet.GEOM_CAPSULE, "radius": body.radius, "height": body.length}
        case Shape.SPHERE:
            sizes = {"shapeType": pybullet.GEOM_SPHERE, "radius": body.radius}
        case _:
            sizes = {"shapeType": pybullet.GEOM_BOX, "halfExtents": body.half_extents}
    shape = pybullet.createCollisionShape(**sizes, physicsClientId=client)
    added: int = pybullet.createMultiBody(
        baseMass=0,
        baseCollisionShapeIndex=shape,
        basePosition=body.center,
        baseOrientation=body.turn,
        physicsClientId=client,
    )
    return added


def _urdf_geometry(body: BulletBody) -> str:
    kind = body.kind.name.lower()
    if body.kind == Shape.BOX:
        return f'<box size="{" ".join(repr(2 * half) for half in body.half_extents)}"/>'
    length = "" if body.kind == Shape.SPHERE else f' length="{body.length!r}"'
    return f'<{kind} radius="{body.radius!r}"{length}/>'


def _mjcf_geometry(body: BulletBody) -> str:
    round_sizes = (body.radius,) if body.kind == Shape.SPHERE else (body.radius, 0.5 * body.length)
    sizes = body.half_extents if body.kind == Shape.BOX else round_sizes
    return f'type="{body.kind.name.lower()}" size="{" ".join(map(repr, sizes))}"'

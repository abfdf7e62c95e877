"""The collision shapes of a client as arrays: body, link, kind, sizes, and the local frame of each.

PyBullet's local frames are relative to the link's centre of mass, whose frame `getBasePositionAndOrientation` and the
first two fields of `getLinkState` give; only the first row of a link names its body and link (later ones hold noise).
"""

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from cylcollide._types import Float64Array, Int64Array
from cylcollide.bullet.arguments import MeshPolicy
from cylcollide.bullet.client import BodyLink, Client
from cylcollide.bullet.pose_loops import BOX, CAPSULE, CYLINDER, PLANE, SPHERE

Row: TypeAlias = tuple[int, tuple[float, ...], tuple[float, ...], tuple[float, ...]]  # kind, sizes, position, rotation

SIZES = {SPHERE: 1, BOX: 3, CYLINDER: 2, CAPSULE: 2, PLANE: 0}  # number of lengths among the three sizes
GROWN = {SPHERE: (1, 0, 0), BOX: (2, 2, 2), CYLINDER: (2, 1, 0), CAPSULE: (0, 1, 0), PLANE: (0, 0, 0)}
"""Growth of the three sizes if every surface moves out by 1, as in `Limbs.inflated`."""

NO_LENGTH = {CAPSULE}  # kinds whose first size, the length of the axis, may be 0


@dataclass(frozen=True, eq=False)
class Shapes:
    """The n shapes that can be mirrored, sorted by body, link, and order in the link; and the wrapped links."""

    body_link: Int64Array  # (n,), index into `body_links`
    kind: Int64Array  # (n,), PyBullet's GEOM_ code
    size: Float64Array  # (n, 3), PyBullet's numbers: a box's edges, a cylinder's length and radius, a plane's normal
    position: Float64Array  # (n, 3), in the frame of the link's centre of mass
    rotation: Float64Array  # (n, 4), quaternions x, y, z, w
    body_links: list[BodyLink]
    wrapped: list[BodyLink]  # links that are left to Bullet's own ray test
    tolerance: float  # growth of the sizes; half the thickness of planes


def ball_radii(kind: Int64Array, size: Float64Array) -> Float64Array:
    """Radius of a ball about the centre of each shape that contains the shape, inf for a plane; (n,)."""
    radius = size[:, 0] / 2.0 + size[:, 1]  # of a capsule or cylinder
    radius = np.where(kind == SPHERE, size[:, 0], radius)
    radius = np.where(kind == BOX, np.linalg.norm(size, axis=1) / 2.0, radius)
    return np.where(kind == PLANE, np.inf, radius)


def shape_arrays(
    client: Client, found: dict[BodyLink, tuple[Row, ...] | None], mesh: MeshPolicy, tolerance: float
) -> Shapes:
    """The shapes of all links as arrays, grown by a tolerance.

    ValueError for a mesh, height field or soft body with the policy "raise", and for a shape without size.
    """
    wrapped, rows, of_link = [], [], []
    for i, (body_link, reported) in enumerate(found.items()):
        if reported is None or any(row[0] not in SIZES for row in reported):
            if mesh == "raise":
                raise ValueError(_refusal(client, body_link, reported))
            if mesh == "wrap":
                wrapped.append(body_link)
                continue
        for row in reported or ():
            has_direction = row[0] != PLANE or np.linalg.norm(row[1]) > 0.0  # PyBullet's own rays miss others
            if row[0] in SIZES and has_direction:
                _check_sizes(body_link, row)
                rows.append(row)
                of_link.append(i)
    return Shapes(
        np.array(of_link, dtype=np.int64),
        np.array([row[0] for row in rows], dtype=np.int64),
        np.array([row[1] for row in rows], dtype=np.float64).reshape(-1, 3)
        + tolerance * np.array([GROWN[row[0]] for row in rows], dtype=np.float64).reshape(-1, 3),
        np.array([row[2] for row in rows], dtype=np.float64).reshape(-1, 3),
        np.array([row[3] for row in rows], dtype=np.float64).reshape(-1, 4),
        list(found),
        wrapped,
        tolerance,
    )


def _refusal(client: Client, body_link: BodyLink, reported: tuple[Row, ...] | None) -> str:
    what = "a shape that PyBullet does not describe" if reported is None else "a mesh"
    return (
        f"{client.body_name(body_link.body)}, link {body_link.link}: expected sphere, box, capsule, cylinder or "
        f"plane, got {what}; load URDF cylinders and MJCF capsules with flags=URDF_USE_IMPLICIT_CYLINDER, or give "
        "Mirror mesh='wrap' to let Bullet decide about it, or mesh='skip' to leave it out"
    )


def _check_sizes(body_link: BodyLink, row: Row) -> None:
    lengths = row[1][: SIZES[row[0]]]
    if row[0] in NO_LENGTH and lengths[0] == 0.0:
        lengths = lengths[1:]
    if not all(0.0 < length < np.inf for length in lengths):
        raise ValueError(
            f"body {body_link.body}, link {body_link.link}: expected a shape of positive size, got {row[1]}; remove it"
        )

"""Reading the collision shapes of a client: body, link, kind, sizes, and the local frame of each.

PyBullet's local frames are relative to the link's centre of mass, whose frame `getBasePositionAndOrientation` and the
first two fields of `getLinkState` give; only the first row of a link names its body and link (later ones hold noise).
"""

from typing import Any, Literal, NamedTuple, TypeAlias, get_args

import numpy as np

from cylcollide._types import Float64Array, Int64Array
from cylcollide.bullet.client import Client, Place
from cylcollide.bullet.crash_guard import MARGINS, crashing

MeshPolicy: TypeAlias = Literal["raise", "skip", "wrap"]

Row: TypeAlias = tuple[int, tuple[float, ...], tuple[float, ...], tuple[float, ...]]  # kind, sizes, position, rotation

SPHERE, BOX, CYLINDER, PLANE, CAPSULE = 2, 3, 4, 6, 7  # GEOM_SPHERE and so on
SIZES = {SPHERE: 1, BOX: 3, CYLINDER: 2, CAPSULE: 2, PLANE: 0}  # number of lengths among the three sizes
BODY_TYPE, MARGIN = 10, 11  # fields of getDynamicsInfo
SOFT_BODY = 3
NO_LENGTH = {CAPSULE}  # whose first size, the length of its axis, may be 0


class Shapes(NamedTuple):
    """The n shapes that can be mirrored, sorted by body, link, and order in the link; and the wrapped places."""

    place: Int64Array  # (n,), index into `places`
    kind: Int64Array  # (n,), PyBullet's GEOM_ code
    size: Float64Array  # (n, 3), PyBullet's numbers: a box's edges, a cylinder's length and radius, a plane's normal
    position: Float64Array  # (n, 3), in the frame of the link's centre of mass
    rotation: Float64Array  # (n, 4), quaternions x, y, z, w
    places: list[Place]
    wrapped: list[int]  # indices of the places that are left to Bullet's own ray test


class Reader:
    """Reads a client's shapes, and remembers the places for which PyBullet crashes."""

    def __init__(self, client: Client, mesh: MeshPolicy) -> None:
        if mesh not in get_args(MeshPolicy):
            raise ValueError(f"mesh: expected one of 'raise', 'skip', 'wrap', got {mesh!r}")
        self._client, self._mesh = client, mesh
        self._tested: dict[Place, tuple[Any, bool]] = {}  # its mark, and whether its shapes may be read

    def read(self) -> dict[Place, tuple[Row, ...] | None]:
        """The shapes of every place, None where PyBullet does not report them. Equal results mean equal shapes."""
        marks = {place: self._mark(place) for place in self._client.places()}
        tested = {place: test for place, test in self._tested.items() if marks.get(place) == test[0]}
        untested = [p for p, (info, *_) in marks.items() if p not in tested and info[MARGIN] in MARGINS]
        bad = crashing(self._client, untested)
        tested.update({place: (marks[place], place not in bad) for place in untested})
        found: dict[Place, tuple[Row, ...] | None] = {}
        for place, mark in marks.items():
            safe = place not in tested or tested[place][1]
            found[place] = self._rows(place, mark[0]) if safe else None
            if found[place] is None:
                tested[place] = (mark, False)
        self._tested = tested
        return found

    def _mark(self, place: Place) -> tuple[Any, ...]:
        """Data that identify a place if its number is reused. Without mass all dynamics are equal: names differ."""
        info = self._client.getDynamicsInfo(*place)
        if info[BODY_TYPE] == SOFT_BODY:
            return ((None,) * BODY_TYPE + info[BODY_TYPE:],)  # the rest varies with its bounding box
        if info[0] == 0.0 and info[MARGIN] in MARGINS:
            return info, self._client.getBodyInfo(place.body), self._client.getVisualShapeData(place.body)
        return (info,)

    def shapes(self, found: dict[Place, tuple[Row, ...] | None]) -> Shapes:
        """The shapes as arrays.

        Raises
        ------
        ValueError
            For a mesh, height field or soft body with the policy "raise", and for a shape without size.
        """
        places, wrapped, rows, of_place = list(found), [], [], []
        for i, place in enumerate(places):
            reported = found[place]
            if reported is None or any(row[0] not in SIZES for row in reported):
                if self._mesh == "raise":
                    raise ValueError(self._refusal(place, reported))
                if self._mesh == "wrap":
                    wrapped.append(i)
                    continue
            for row in reported or ():
                if row[0] in SIZES:
                    _check_sizes(place, row)
                    rows.append(row)
                    of_place.append(i)
        return Shapes(
            np.array(of_place, dtype=np.int64),
            np.array([row[0] for row in rows], dtype=np.int64),
            np.array([row[1] for row in rows], dtype=np.float64).reshape(-1, 3),
            np.array([row[2] for row in rows], dtype=np.float64).reshape(-1, 3),
            np.array([row[3] for row in rows], dtype=np.float64).reshape(-1, 4),
            places,
            wrapped,
        )

    def _rows(self, place: Place, info: Any) -> tuple[Row, ...] | None:
        """The shapes of one place, () if it has none, None if PyBullet does not report them."""
        if info[BODY_TYPE] == SOFT_BODY:
            return None
        try:
            reported = self._client.getCollisionShapeData(*place)
        except self._client.api.error:  # bodies in maximal coordinates
            return None
        if not reported and self._has_extent(place, info[MARGIN]):
            return None  # a height field, which PyBullet leaves out
        return tuple((row[2], row[3], row[5], row[6]) for row in reported)

    def _has_extent(self, place: Place, margin: float) -> bool:
        """Whether the bounding box of the place exceeds twice the margins on both sides, which an empty one has."""
        low, high = np.array(self._client.getAABB(*place))
        return bool((high - low > 4.0 * margin).any())

    def _refusal(self, place: Place, reported: tuple[Row, ...] | None) -> str:
        what = "a shape that PyBullet does not describe" if reported is None else "a mesh"
        name = self._client.getBodyInfo(place.body)[1].decode(errors="replace")
        return (
            f"body {place.body} ({name!r}), link {place.link}: expected sphere, box, capsule, cylinder or plane, got "
            f"{what}; load URDF cylinders and MJCF capsules with flags=URDF_USE_IMPLICIT_CYLINDER, or give Mirror "
            "mesh='wrap' to let Bullet decide about it, or mesh='skip' to leave it out"
        )


def _check_sizes(place: Place, row: Row) -> None:
    lengths = row[1][1:2] if row[0] in NO_LENGTH else row[1][: SIZES[row[0]]]
    if not all(0.0 < length < np.inf for length in lengths):
        raise ValueError(
            f"body {place.body}, link {place.link}: expected a shape of positive size, got {row[1]}; remove it"
        )

"""What shapes a client has. PyBullet tells body, link, kind, sizes, and where the shape sits in its link.

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
SIZES = {SPHERE: 1, BOX: 3, CYLINDER: 2, CAPSULE: 2, PLANE: 0}  # how many of the three sizes are lengths
BODY_TYPE, MARGIN = 10, 11  # fields of getDynamicsInfo
SOFT_BODY = 3
NO_LENGTH = {CAPSULE}  # whose first size, the length of its axis, may be 0


class Shapes(NamedTuple):
    """Every shape that can be mirrored, by body, link, and place in its link; (n,) rows. And what Bullet keeps."""

    place: Int64Array  # (n,), index into `places`
    kind: Int64Array  # (n,), PyBullet's GEOM_ code
    size: Float64Array  # (n, 3), PyBullet's numbers: a box's edges, a cylinder's length and radius, a plane's normal
    position: Float64Array  # (n, 3), in the frame of the link's centre of mass
    rotation: Float64Array  # (n, 4), quaternions x, y, z, w
    places: list[Place]
    wrapped: list[int]  # which places hold something that only Bullet's own ray test can answer


class Reader:
    """Reads a client's shapes, and remembers what it must not ask about again."""

    def __init__(self, client: Client, mesh: MeshPolicy) -> None:
        if mesh not in get_args(MeshPolicy):
            raise ValueError(f"mesh: expected one of 'raise', 'skip', 'wrap', got {mesh!r}")
        self._client, self._mesh = client, mesh
        self._tested: dict[Place, tuple[Any, bool]] = {}  # what told it apart, and whether it may be asked about

    def read(self) -> dict[Place, tuple[Row, ...] | None]:
        """The shapes of every place; None where PyBullet does not tell them. Equal if the client's shapes are."""
        marks = {place: self._mark(place) for place in self._client.places()}
        tested = {place: test for place, test in self._tested.items() if marks.get(place) == test[0]}
        doubtful = [p for p, (info, *_) in marks.items() if p not in tested and info[MARGIN] in MARGINS]
        bad = crashing(self._client, doubtful)
        tested.update({place: (marks[place], place not in bad) for place in doubtful})
        found: dict[Place, tuple[Row, ...] | None] = {}
        for place, mark in marks.items():
            asked = place not in tested or tested[place][1]
            found[place] = self._rows(place, mark[0]) if asked else None
            if found[place] is None:
                tested[place] = (mark, False)
        self._tested = tested
        return found

    def _mark(self, place: Place) -> tuple[Any, ...]:
        """What tells a place from another that took its number. Without a mass all dynamics are the same: names do."""
        info = self._client.getDynamicsInfo(*place)
        if info[BODY_TYPE] == SOFT_BODY:
            return ((None,) * BODY_TYPE + info[BODY_TYPE:],)  # the rest is its moving box
        if info[0] == 0.0 and info[MARGIN] in MARGINS:
            return info, self._client.getBodyInfo(place.body), self._client.getVisualShapeData(place.body)
        return (info,)

    def shapes(self, found: dict[Place, tuple[Row, ...] | None]) -> Shapes:
        """The shapes in arrays.

        Raises
        ------
        ValueError
            For a mesh and the like if meshes are to raise, and for a shape without size.
        """
        places, wrapped, rows, of_place = list(found), [], [], []
        for i, place in enumerate(places):
            told = found[place]
            if told is None or any(row[0] not in SIZES for row in told):
                if self._mesh == "raise":
                    raise ValueError(self._refusal(place, told))
                if self._mesh == "wrap":
                    wrapped.append(i)
                    continue
            for row in told or ():
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
        """The shapes of one place, () if it has none."""
        if info[BODY_TYPE] == SOFT_BODY:
            return None
        try:
            told = self._client.getCollisionShapeData(*place)
        except self._client.api.error:  # bodies in maximal coordinates
            return None
        if not told and self._has_extent(place, info[MARGIN]):
            return None  # a height field, which PyBullet passes over
        return tuple((row[2], row[3], row[5], row[6]) for row in told)

    def _has_extent(self, place: Place, margin: float) -> bool:
        """Whether the place has a box larger than the margin that an empty one has on either side, twice over."""
        low, high = np.array(self._client.getAABB(*place))
        return bool((high - low > 4.0 * margin).any())

    def _refusal(self, place: Place, told: tuple[Row, ...] | None) -> str:
        what = "a shape that PyBullet does not describe" if told is None else "a mesh"
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

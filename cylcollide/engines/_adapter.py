"""The base classes of adapters: checks, misses, positions; limbs by centre, rotation and sizes, or as triangle meshes.

A subclass implements building and casting for its engine.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import version
from typing import Any, ClassVar

import numpy as np

from cylcollide._types import Float64Array, Int8Array, Int32Array, Shape
from cylcollide._version import not_installed
from cylcollide.characters.quaternions import of_matrices
from cylcollide.engines.protocol import Capabilities, Engine, EngineHits
from cylcollide.limbs.limbs import Limbs
from cylcollide.limbs.meshes import Vertices, tessellate


def peer(module: str) -> Any:
    """Import the package of an engine, or raise an ImportError that names the extra to install."""
    try:
        return import_module(module)
    except ImportError as missing:
        raise not_installed(module.partition(".")[0], "peers", missing) from missing


def installed(distribution: str) -> dict[str, str]:
    """A distribution and its version, in the form of `Engine.versions`."""
    try:
        return {distribution: version(distribution)}
    except ModuleNotFoundError:
        return {distribution: "unknown"}


class Adapter(Engine, ABC):
    """An engine whose limbs may move; see :class:`cylcollide.engines.Engine`.

    An adapter keeps the engine's own objects in ``_world``.
    """

    _limbs: Limbs | None = None
    _world: Any = None

    @abstractmethod
    def _build(self, limbs: Limbs) -> None:
        """Replace all solids of the engine by these limbs, at least one."""

    def _move(self, limbs: Limbs) -> None:
        """Move the solids to these limbs, which differ from the present ones only in their ends."""
        self._build(limbs)

    @abstractmethod
    def _cast(self, starts: Float64Array, ends: Float64Array, hits: EngineHits) -> None:
        """Cast at least one segment against at least one limb; starts, ends (n, 3).

        Write the answers into ``hits``, which are misses. Rows whose limb stays -1 may get any values elsewhere;
        positions only if the capabilities include them.
        """

    def build(self, limbs: Limbs) -> None:
        """Replace all limbs by these; ValueError for a shape that the engine does not have."""
        known = np.isin(limbs.kind, [int(shape) for shape in self.capabilities.shapes])
        if not known.all():
            row = int((~known).argmax())
            held = ", ".join(shape.name.lower() for shape in sorted(self.capabilities.shapes))
            raise ValueError(
                f"limbs: {self.name} holds {held}, got a {Shape(int(limbs.kind[row])).name.lower()} in row {row}; "
                "leave such limbs out or use another engine"
            )
        self._limbs = None
        if len(limbs):
            self._build(limbs)
        self._limbs = limbs

    def set_endpoints(self, p1: Float64Array, p2: Float64Array) -> None:
        """Move every limb to new ends, (m, 3) in metres; ValueError if nothing was built, or without one axis each."""
        limbs = self._built().moved(p1, p2)
        if len(limbs):
            self._move(limbs)
        self._limbs = limbs

    def cast_segments(self, starts: Float64Array, ends: Float64Array) -> EngineHits:
        """The closest hit of each segment; starts, ends (n, 3) in metres."""
        hits = EngineHits.misses(len(starts))
        if len(self._built()) and len(starts):
            self._cast(starts, ends, hits)
            for column in (hits.fraction, hits.position, hits.normal):
                column[hits.limb < 0] = np.nan
            if not self.capabilities.position:
                hits.position[:] = starts + hits.fraction[:, None] * (ends - starts)
        return hits

    def _built(self) -> Limbs:
        if self._limbs is None:
            raise ValueError(f"{self.name}: expected limbs, got none; call build() first")
        return self._limbs

    def close(self) -> None:
        """Release the limbs and the engine's own objects; closing twice is harmless."""
        self._limbs = self._world = None


BODY_SHAPES = frozenset({Shape.CYLINDER, Shape.CAPSULE, Shape.SPHERE, Shape.BOX})
"""Shapes that most physics engines have."""
PROBE, FARTHEST = 1e-6, 100.0
"""Radius of the ball in place of a point, where an engine measures distances of two bodies, and the largest distance
that is requested; metres."""
FLOAT32_ROUNDING = 2.0**-22
"""Four roundings of float32, relative to a coordinate: two for each end of a limb."""


@dataclass(frozen=True)
class Solid:
    """One limb as in `SolidPoses`, in Python's numbers."""

    kind: Shape
    center: list[float]
    turn: Sequence[float]
    half_length: float
    radius: float
    half_extents: list[float]


@dataclass(frozen=True)
class SolidPoses:
    """n limbs as solids centred at the origin along z, rotated and then translated."""

    kind: Int8Array  # (n,): Shape
    center: Float64Array  # (n, 3)
    turn: Float64Array  # (n, 4): quaternions x, y, z, w; of a box its frame, of a sphere the identity
    half_length: Float64Array  # (n,): half the distance between p1 and p2
    radius: Float64Array  # (n,)
    half_extents: Float64Array  # (n, 3): of a box

    def rows(self) -> list[Solid]:
        """The limbs one by one."""
        columns = (column.tolist() for column in vars(self).values())
        return [Solid(Shape(kind), *others) for kind, *others in zip(*columns, strict=True)]


def poses(limbs: Limbs) -> SolidPoses:
    """Centre, rotation and sizes of every limb, in float64."""
    axis = limbs.p2 - limbs.p1
    # Tilt z towards x by the polar angle, then turn about z to the azimuth: both angles are well defined everywhere.
    x, y, z = axis.T
    polar, azimuth = 0.5 * np.arctan2(np.hypot(x, y), z), 0.5 * np.arctan2(y, x)
    (tilt, no_tilt), (aside, ahead) = ((np.sin(half), np.cos(half)) for half in (polar, azimuth))
    turn = np.stack([-aside * tilt, ahead * tilt, aside * no_tilt, ahead * no_tilt], axis=1)
    boxes = limbs.kind == int(Shape.BOX)
    turn[boxes] = quaternions(limbs.box_axes[boxes])
    length = np.linalg.norm(axis, axis=1)
    return SolidPoses(limbs.kind, limbs.p1 + 0.5 * axis, turn, 0.5 * length, limbs.radius, limbs.half_extents)


class BodyEngine(Adapter):
    """An engine of bodies whose size is fixed and whose cylinders lie along y; it rebuilds if a length changes."""

    _bodies: list[Any]
    _sized: Limbs

    @abstractmethod
    def _create(self, solids: SolidPoses, turns: Float64Array) -> None:
        """Replace the world by one with these bodies; ``turns`` (n, 4) rotate them from the y axis."""

    @abstractmethod
    def _place(self, centers: Float64Array, turns: Float64Array) -> None:
        """Move all bodies."""

    def _build(self, limbs: Limbs) -> None:
        self._sized, solids = limbs, poses(limbs)
        self._create(solids, _turns_from_y(solids))

    def _move(self, limbs: Limbs) -> None:
        if same_lengths(self._sized, limbs):
            solids = poses(limbs)
            self._place(solids.center, _turns_from_y(solids))
        else:
            self._build(limbs)


def same_lengths(before: Limbs, after: Limbs) -> bool:
    """Whether the lengths of moved limbs are unchanged up to the rounding of float32 coordinates."""
    change = np.linalg.norm(after.p2 - after.p1, axis=1) - np.linalg.norm(before.p2 - before.p1, axis=1)
    largest = np.abs([after.p1, after.p2, before.p1, before.p2]).max(axis=(0, 2))
    return bool((np.abs(change) <= FLOAT32_ROUNDING * largest).all())


def _turns_from_y(solids: SolidPoses) -> Float64Array:
    """Quaternions x, y, z, w (n, 4) for an engine whose cylinders and capsules lie along y."""
    return np.where((solids.kind == int(Shape.BOX))[:, None], solids.turn, y_up(solids.turn))


def y_up(turn: Float64Array) -> Float64Array:
    """The rotations (n, 4) for solids along y instead of z: preceded by a quarter turn about x."""
    x, y, z, w = np.sqrt(0.5) * turn.T
    return np.stack([x + w, y + z, z - y, w - x], axis=1)


def quaternions(axes: Float64Array) -> Float64Array:
    """Unit quaternions x, y, z, w of right-handed frames whose axes are the rows; (n, 3, 3) to (n, 4)."""
    return of_matrices(np.swapaxes(axes, 1, 2))


class MeshEngine(Adapter):
    """An engine with all limbs in one mesh; a ray that starts inside hits the far wall.

    `sides`: sides of the polygon for a circle, at least 3. With 32 the wall errs by at most 0.24 % of the radius.
    """

    variants: ClassVar[dict[str, dict[str, Any]]] = {"32-gon": {}, "256-gon": {"sides": 256}}

    def __init__(self, sides: int = 32) -> None:
        if sides < 3:
            raise ValueError(f"sides: expected at least 3, got {sides}; a polygon needs three")
        self.capabilities = Capabilities(
            shapes=frozenset(Shape),
            inside="exit",
            # 1.5 sagittas, (pi / sides)² / 2 of 0.5 m each: half across an axis, one along arcs
            accuracy=4.0 / sides**2,
            precision="float32",
            sides=sides,
            position=False,
            moves=False,
        )
        self._sides = sides
        self._limb_of_triangle: Int32Array = np.empty(0, np.int32)

    @abstractmethod
    def _build_mesh(self, vertices: Vertices, triangles: Int32Array) -> None:
        """Replace the engine's scene by a mesh: vertices (v, 3), triangles (t, 3)."""

    def _build(self, limbs: Limbs) -> None:
        vertices, triangles, self._limb_of_triangle = tessellate(limbs._table, self._sides)
        self._build_mesh(vertices, triangles)

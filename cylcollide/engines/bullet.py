"""PyBullet as an engine: every limb is a static body in a separate DIRECT client, rays are cast by ``rayTestBatch``.

The bodies are the limbs up to the rounding of a float64 centre and quaternion (about 1e-16 of a coordinate).
``getQuaternionFromAxisAngle`` returns float32 numbers, which would tilt the bodies by up to 1e-7, so the orientation
comes from ``getQuaternionFromEuler``, which computes in float64.

A limb becomes a body in one of four ways, whose bodies differ: "geom", ``createCollisionShape`` and
``createMultiBody``; "urdf", ``loadURDF`` with default flags, which makes a cylinder the convex hull of a polygon;
"urdf-implicit", with the flag ``URDF_USE_IMPLICIT_CYLINDER``; and "mjcf", ``loadMJCF``, which rounds sizes to float32.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, ClassVar, Literal, TypeAlias

import numpy as np

from cylcollide._pybullet import connect, pybullet
from cylcollide._types import Float64Array, Int32Array, Shape
from cylcollide.engines._adapter import BODY_SHAPES, FARTHEST, PROBE, Adapter, Solid, installed, poses
from cylcollide.engines.protocol import Capabilities, EngineHits
from cylcollide.limbs.limbs import Limbs

Construction: TypeAlias = Literal["geom", "urdf", "urdf-implicit", "mjcf"]
CONSTRUCTIONS: tuple[Construction, ...] = ("geom", "urdf", "urdf-implicit", "mjcf")

URDF = """<robot name="limb"><link name="limb">
<inertial><mass value="0"/><inertia ixx="0" ixy="0" ixz="0" iyy="0" iyz="0" izz="0"/></inertial>
<collision><geometry>{}</geometry></collision></link></robot>"""
MJCF = "<mujoco><worldbody><geom {}/></worldbody></mujoco>"

BATCH = 16_000
"""Rays in one ``rayTestBatch``; PyBullet's limit is 16,383: of 16,384 it drops one or all, more are an error."""


CONTACT_DISTANCE, MARGIN = 8, 11
"""Indices in the results of ``getClosestPoints`` and ``getDynamicsInfo``."""


class BulletEngine(Adapter):
    """PyBullet's ``rayTestBatch`` against the limbs of one pose; see :class:`cylcollide.engines.Engine`.

    Parameters
    ----------
    construction
        How limbs become bodies: "geom", "urdf", "urdf-implicit" or "mjcf"; see above.
    margin
        Collision margin in metres, set on every body with ``changeDynamics``; None leaves PyBullet's default.
    threads
        ``numThreads`` of ``rayTestBatch``; 0: PyBullet decides.
    """

    name = "PyBullet"
    versions = installed("pybullet")
    variants: ClassVar[dict[str, dict[str, Any]]] = {
        "GEOM_CYLINDER": {},
        "margin 0": {"margin": 0.0},
        "URDF": {"construction": "urdf"},
        "URDF implicit": {"construction": "urdf-implicit"},
        "MJCF": {"construction": "mjcf"},
    }
    capabilities = Capabilities(
        shapes=BODY_SHAPES,
        inside="ignore",
        accuracy=1.5e-3,  # it stops within 1 mm of the surface
        max_batch=BATCH,
        moves=False,
        practical_limbs=20_000,
    )

    def __init__(self, construction: Construction = "geom", margin: float | None = None, threads: int = 1) -> None:
        if construction not in CONSTRUCTIONS:
            raise ValueError(f"construction: expected one of {', '.join(CONSTRUCTIONS)}, got {construction!r}")
        self.construction, self.margin, self.threads = construction, margin, threads
        if construction == "urdf":
            self.capabilities = replace(self.capabilities, sides=32, accuracy=4e-3)  # a hull, and the margin outside it
        self._client = self._connected()
        self._limb_of_body: dict[int, int] = {}

    def _connected(self) -> int:
        return connect()

    def _build(self, limbs: Limbs) -> None:
        # Also when limbs move: PyBullet cannot change the length of a shape.
        pybullet.resetSimulation(physicsClientId=self._client)
        with TemporaryDirectory(prefix="cylcollide-") as folder:
            self._limb_of_body = {
                self._add(body, Path(folder, str(limb))): limb for limb, body in enumerate(bodies(limbs))
            }
        if self.margin is not None:
            for body in self._limb_of_body:
                pybullet.changeDynamics(body, -1, collisionMargin=self.margin, physicsClientId=self._client)
        self._finish()

    def _add(self, body: Solid, stem: Path) -> int:
        """Add one body; `stem` is a path without suffix for a file."""
        return add_body(body, self.construction, stem, self._client)

    def _finish(self) -> None:
        """Finish a build, after the last body was added."""
        if self.margin is not None:
            self.refresh_boxes()  # else the broad phase culls rays by boxes with the old margin

    def refresh_boxes(self) -> None:
        """Make the broad phase recompute its boxes."""
        pybullet.performCollisionDetection(physicsClientId=self._client)

    def _cast(self, starts: Float64Array, ends: Float64Array, hits: EngineHits) -> None:
        """Cast in batches of at most `BATCH` rays; RuntimeError if PyBullet loses rays."""
        results: list[Any] = []
        for first in range(0, len(starts), BATCH):
            rows = slice(first, first + BATCH)
            results += self.cast_batch(starts[rows], ends[rows])
        if len(results) != len(starts):
            raise RuntimeError(f"PyBullet answered {len(results)} of {len(starts)} rays")
        self.fill(hits, results)

    def cast_batch(self, starts: Any, ends: Any) -> Sequence[Any]:
        """The results of one call of ``rayTestBatch`` with arrays or lists, (n, 3); possibly fewer than rays."""
        results: Sequence[Any] = pybullet.rayTestBatch(
            starts, ends, numThreads=self.threads, physicsClientId=self._client
        )
        return results

    def fill(self, hits: EngineHits, results: Sequence[Any]) -> None:
        """Write PyBullet's results into the first rows of `hits`, which are misses."""
        for row, (body, _, fraction, position, normal) in enumerate(results):
            if body >= 0:
                hits.limb[row], hits.fraction[row] = self._limb_of_body[body], fraction
                hits.position[row], hits.normal[row] = position, normal

    def signed_distances(self, points: Float64Array, limb: Int32Array) -> Float64Array:
        """Distances by ``getClosestPoints`` of a ball of radius `PROBE`; see `MeasuresDistances`."""
        number, bodies, distance = self._client, list(self._limb_of_body), np.full(len(points), np.nan)
        shape = pybullet.createCollisionShape(pybullet.GEOM_SPHERE, radius=PROBE, physicsClientId=number)
        ball = pybullet.createMultiBody(0, shape, physicsClientId=number)
        for i, (place, row) in enumerate(zip(points.tolist(), limb.tolist(), strict=True)):
            pybullet.resetBasePositionAndOrientation(ball, place, (0.0, 0.0, 0.0, 1.0), physicsClientId=number)
            found = pybullet.getClosestPoints(ball, bodies[row], FARTHEST, physicsClientId=number)
            distance[i] = min((one[CONTACT_DISTANCE] for one in found), default=np.nan) + PROBE
        pybullet.removeBody(ball, physicsClientId=number)
        return distance

    def margins(self) -> Float64Array:
        """The collision margin of each limb's body, as PyBullet reports it; metres."""
        infos = (pybullet.getDynamicsInfo(body, -1, physicsClientId=self._client) for body in self._limb_of_body)
        return np.array([info[MARGIN] for info in infos], np.float64)

    def close(self) -> None:
        """Disconnect the client."""
        if self._client >= 0:
            pybullet.disconnect(physicsClientId=self._client)
            self._client = -1


def bodies(limbs: Limbs) -> list[Solid]:
    """The limbs as bodies in PyBullet's terms."""
    found = zip(limbs.p2 - limbs.p1, poses(limbs).rows(), strict=True)
    return [body if body.kind == Shape.BOX else replace(body, turn=axis_quaternion(axis)) for axis, body in found]


def axis_quaternion(axis: Float64Array) -> tuple[float, float, float, float]:
    """The quaternion x, y, z, w that rotates Bullet's cylinder axis z to ``axis`` (3,), of any length but 0."""
    x, y, z = (float(c) for c in axis)
    quaternion: tuple[float, float, float, float] = pybullet.getQuaternionFromEuler(
        [0.0, float(np.arctan2(np.hypot(x, y), z)), float(np.arctan2(y, x))]
    )
    return quaternion


def add_body(body: Solid, construction: Construction, stem: Path, client: int) -> int:
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


def _create(body: Solid, client: int) -> int:
    sizes: dict[str, Any] = {"radius": body.radius, "height": 2.0 * body.half_length}
    if body.kind in (Shape.SPHERE, Shape.BOX):
        sizes = {"radius": body.radius} if body.kind == Shape.SPHERE else {"halfExtents": body.half_extents}
    kind = getattr(pybullet, f"GEOM_{body.kind.name}")
    shape = pybullet.createCollisionShape(kind, **sizes, physicsClientId=client)
    added: int = pybullet.createMultiBody(0, shape, -1, body.center, body.turn, physicsClientId=client)
    return added


def _urdf_geometry(body: Solid) -> str:
    kind = body.kind.name.lower()
    if body.kind == Shape.BOX:
        return f'<box size="{" ".join(repr(2 * half) for half in body.half_extents)}"/>'
    length = "" if body.kind == Shape.SPHERE else f' length="{2.0 * body.half_length!r}"'
    return f'<{kind} radius="{body.radius!r}"{length}/>'


def _mjcf_geometry(body: Solid) -> str:
    round_sizes = (body.radius,) if body.kind == Shape.SPHERE else (body.radius, body.half_length)
    sizes = body.half_extents if body.kind == Shape.BOX else round_sizes
    return f'type="{body.kind.name.lower()}" size="{" ".join(map(repr, sizes))}"'

"""Limbs and rays from a user's file, as another workload: ``cylcollide bench --scene``."""

import sqlite3
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from cylcollide import validate
from cylcollide.bench.workloads import SEED, Segments, Workload
from cylcollide.characters.rig import Rig
from cylcollide.kernels.aabb import limb_boxes
from cylcollide.limbs.limbs import Limbs
from cylcollide.process.files import named_in_errors, read_columns
from cylcollide.shotlog.logged import LoggedShots
from cylcollide.world import HitWorld

RIGS = {".urdf": Rig.from_urdf, ".xml": Rig.from_mjcf, ".json": Rig.load}


@dataclass(frozen=True)
class FileScene(Workload):
    """A workload with given limbs, and optionally given rays."""

    given: Limbs | None = None
    rays: Segments | None = None

    def limbs(self, frame: int = 0) -> Limbs:  # noqa: ARG002  of a scene there is one
        """The given limbs, in any frame."""
        assert self.given is not None
        return self.given

    def segments(self, world: HitWorld, n: int) -> Segments:
        """The first n rays; or n random ones, from outside of the limbs' box through a random point of it.

        Rays that start in a limb are left out. ValueError if none is left.
        """
        starts, ends = (self._through_box(world.limbs, n) if self.rays is None else self.rays).first(n)
        outside = world.contains_points(starts).limb < 0
        if not outside.any():
            raise ValueError("scene: expected a ray that starts outside of all limbs, got none")
        return Segments(starts[outside], ends[outside])

    def _through_box(self, limbs: Limbs, n: int) -> Segments:
        """Segments of four box diagonals, from one to three diagonals away, through random points of the box."""
        rng, (lows, highs) = np.random.default_rng([SEED, n]), limb_boxes(limbs._table)
        low, high = lows.min(axis=0), highs.max(axis=0)
        size, away = float(np.linalg.norm(high - low)), rng.standard_normal((n, 3))
        starts = (
            0.5 * (low + high) + rng.uniform(1.0, 3.0, (n, 1)) * size * away / np.linalg.norm(away, axis=1)[:, None]
        )
        heading = rng.uniform(low, high, (n, 3)) - starts
        return Segments(starts, starts + 4.0 * size * heading / np.linalg.norm(heading, axis=1)[:, None])


def read_scene(file: Path) -> FileScene:
    """The scene of a file.

    `.npz`: columns of `Limbs.save`, and `starts` and `ends`, (n, 3) each, if rays are given. `.urdf`, `.xml` (MJCF) and
    `.json` (`Rig.save`): a rig at rest. Any other file is a shot log: its shots, at the limbs of its middle tick.
    OSError if the file cannot be read; ValueError, naming the file, if it holds no scene.
    """
    with named_in_errors(file):
        if file.suffix == ".npz":
            limbs, rays = Limbs.load(file), _rays(file)
        elif file.suffix in RIGS:
            rig = RIGS[file.suffix](file)
            limbs = rig.place(*rig.forward(rig.rest_positions[0], [0.0, 0.0, 0.0, 1.0], rig.rest_orientations))
            rays = None
        else:
            limbs, rays = _of_log(file)
        if not len(limbs):
            raise ValueError("expected a scene with a limb, got none")
    return FileScene(file.name, 0, given=limbs, rays=rays)


def _rays(file: Path) -> Segments | None:
    """The columns of rays in a file of limbs; None if it has none."""
    columns = read_columns(file, "Limbs.save")
    if "starts" not in columns and "ends" not in columns:
        return None
    if missing := {"starts", "ends"} - set(columns):
        raise ValueError(f"expected the columns starts and ends, got none of the name {missing.pop()}")
    starts = validate.vectors(columns["starts"], "column starts")
    return Segments(starts, validate.vectors(columns["ends"], "column ends", len(starts)))


def _of_log(file: Path) -> tuple[Limbs, Segments]:
    """The limbs of the middle tick of a log, and all its shots."""
    try:
        with LoggedShots(file) as log:
            if not (len(log.ticks) and len(log)):
                raise ValueError(f"expected a log with a tick and a shot, got {log!r}")
            limbs = next(log._states(len(log.ticks) // 2)).limbs
            shots = list(log)
            starts, ends = np.array([one.start for one in shots]), np.array([one.end for one in shots])
    except sqlite3.Error as error:
        raise ValueError(f"expected limbs (.npz), a rig or a shot log, got another file ({error})") from None
    return limbs, Segments(starts, ends)

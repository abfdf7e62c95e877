"""Meshes, height fields, soft bodies: a box around each, and Bullet's own ray test for the rays that intersect it."""

from typing import NamedTuple

import numpy as np

from cylcollide._types import Float64Array, Int64Array
from cylcollide.bullet.client import Client, Place
from cylcollide.bullet.filters import signed
from cylcollide.bullet.read_shapes import Shapes
from cylcollide.limbs.limbs import Limbs
from cylcollide.world import Snapshot

PADDING = 0.02
"""Padding of the boxes that PyBullet reports: Bullet pads its own by this contact threshold, so that its rays may hit
within it. Wider boxes change nothing but the number of rays passed to Bullet."""

LARGEST = 1e18  # PyBullet reports 1e30 for an unbounded side, beyond what kernels trust


class BulletHit(NamedTuple):
    """A hit of Bullet's own ray test."""

    fraction: float
    place: Place
    position: tuple[float, float, float]
    normal: tuple[float, float, float]


def wrapped_places(shapes: Shapes) -> list[Place]:
    """The places that are left to Bullet."""
    return [shapes.places[k] for k in shapes.wrapped]


def wrapped_boxes(client: Client, shapes: Shapes) -> Float64Array:
    """The bounding boxes (k, 2, 3) of the wrapped places; ValueError, naming body and link, if one is not finite."""
    number, box_of = client.number, client.api.getAABB
    places = wrapped_places(shapes)
    boxes = np.array([box_of(*place, number) for place in places], dtype=np.float64).reshape(-1, 2, 3)
    bad = np.flatnonzero(np.isnan(boxes).any(axis=(1, 2)))
    if len(bad):
        place = places[int(bad[0])]
        raise ValueError(
            f"{client.body_name(place.body)}, link {place.link}: expected a finite pose, got the bounding box "
            f"{boxes[bad[0]].tolist()}; give the body another by resetBasePositionAndOrientation, or remove it"
        )
    return boxes


class Wrapped:
    """The places whose hits only Bullet's own ray test can give."""

    def __init__(self, client: Client, places: list[Place], bounds: Float64Array) -> None:
        self._client, self.places, self._places = client, places, frozenset(places)
        padded = np.clip(bounds + np.array([[-PADDING], [PADDING]]), -LARGEST, LARGEST)
        low, high = padded[:, 0], padded[:, 1]
        self.boxes = Limbs.boxes((low + high) / 2.0, [0.0, 0.0, 0.0, 1.0], (high - low) / 2.0)
        """A box around each place; only rays that intersect one are passed to Bullet."""
        self._world: Snapshot | None = Snapshot.of(self.boxes) if places else None

    def moved(self, bounds: Float64Array) -> "Wrapped":
        """The same places with other bounding boxes."""
        return Wrapped(self._client, self.places, bounds) if self.places else self

    def hits(
        self, starts: Float64Array, ends: Float64Array, mask: int, fraction: Float64Array | None
    ) -> dict[int, list[BulletHit]]:
        """The hits of segments (n, 3), (n, 3) with the places, by row; sorted by fraction, one a place.

        With `fraction` (n,), those of other hits, only the first of a row is sure to be among them, and only if it
        comes before that fraction: most rays then are in a single call, or in none.
        """
        found: dict[int, dict[Place, BulletHit]] = {}
        if self._world is None:
            return {}
        number = 0 if fraction is None else -1  # -1: the first of all bodies; from 0: any of them, in no order
        rows, limit = self._rows_to_pass(starts, ends, fraction)
        while len(rows):
            keywords = {"collisionFilterMask": signed(mask), "reportHitNumber": number}
            results = self._client.ray_hits(starts[rows], ends[rows], **keywords)
            open_rows = []
            for row, (body, link, time, position, normal) in zip(rows.tolist(), results, strict=True):
                place = Place(body, link)
                if place in self._places:
                    of_row = found.setdefault(row, {})
                    if place not in of_row or time < of_row[place].fraction:
                        of_row[place] = BulletHit(time, place, position, normal)
                if body >= 0 and (number >= 0 or (place not in self._places and time < limit[row])):
                    open_rows.append(row)
            rows, number = np.array(open_rows, dtype=np.int64), number + 1
        return {row: sorted(of_row.values()) for row, of_row in found.items()}

    def _rows_to_pass(
        self, starts: Float64Array, ends: Float64Array, fraction: Float64Array | None
    ) -> tuple[Int64Array, Float64Array]:
        """The rays that intersect a box before their fraction, and the fractions (n,), infinite if there are none."""
        if self._world is None or fraction is None:
            everywhere = np.full(len(starts), np.inf)
            return (
                np.flatnonzero(self._world.occluded_segments(starts, ends)) if self._world else np.zeros(0, np.int64),
                everywhere,
            )
        boxes = self._world.cast_segments(starts, ends)
        return np.flatnonzero(boxes.hit & (boxes.fraction <= fraction)), fraction

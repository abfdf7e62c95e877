"""The parts of flights within one tick each, where limbs move on straight lines."""

from collections.abc import Sequence

import numpy as np

from cylcollide.history.moving.flights import Flights
from cylcollide.history.ticks import Tick
from cylcollide.query.loops.moving_rows import STRETCH_ROW, FlightRows, StretchRows, fill_stretches
from cylcollide.runtime import memory

COLUMNS = [np.dtype(kind) for kind in (np.int64, np.int64, np.bool_, np.bool_)]
"""Of piece, tick, is_last, is_open."""


def stretches_of(ticks: Sequence[Tick], flights: Flights) -> tuple[FlightRows, StretchRows]:
    """The pieces of flights, and the stretches of those that are kept."""
    times = np.array([tick.time for tick in ticks])
    given = (flights.starts, flights.ends, flights.t0, flights.t1, flights.target_t0, flights.target_t1)
    rows = FlightRows(*given, np.append(times, times[-1]))
    first, last = (np.searchsorted(times, t, side="right") - 1 for t in (rows.target_t0, rows.target_t1))
    before = np.zeros(len(first) + 1, np.int64)
    np.cumsum(np.where(flights.kept, last - first + 1, 0), out=before[1:])
    n = int(before[-1])
    piece, tick, is_last, is_open = memory.columns(n, *COLUMNS)
    stretches = StretchRows(before[flights.offsets], piece, tick, memory.rows((n, STRETCH_ROW)), is_last, is_open)
    fill_stretches(rows, first, last, before, stretches)
    return rows, stretches

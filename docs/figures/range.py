"""The README's picture: the range after a shot that passes a limb by half a millimetre, which PyBullet hits.

Run: python docs/figures/range.py [range.png]   (needs '.[view,crosscheck]' and Chromium)
"""

import sys
from pathlib import Path

import numpy as np

from cylcollide.view.files import write_png
from cylcollide.view.firing import make_firing
from cylcollide.view.people import range_rig
from cylcollide.view.range import Range, side_view

EYE, LATENCY = np.array([2.2, -6.2, 1.9]), 120  # metres, milliseconds


def main(path: str = "docs/figures/range.png") -> None:
    """Two seconds of motion, one shot."""
    shown = Range(make_firing(range_rig(), [], 16))
    shown._slider.value = LATENCY
    for tick in range(1, 60):
        shown.step(tick / 30)
    shot, camera = shown.fire_past_a_limb(EYE), shown._server.initial_camera
    assert shot is not None
    camera.position, camera.look_at = side_view(shot)
    write_png(shown._server, Path(path), 1400, 700)
    shown.close()


if __name__ == "__main__":
    main(*sys.argv[1:])

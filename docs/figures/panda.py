"""The picture of docs/panda3d.md: the demo plays two seconds without a window and shoots at a head half a second ago.

Run: python docs/figures/panda.py panda.png   (needs Panda3D: pip install '.[panda3d]')
"""

import runpy
import sys
from pathlib import Path

import numpy as np
from panda3d.core import ClockObject, loadPrcFileData

DEMO = Path(__file__).parents[2] / "demos" / "panda.py"


def main(path: str) -> None:
    """Play, shoot and save the picture."""
    loadPrcFileData("", "window-type offscreen\nload-display p3tinydisplay\naudio-library-name null\nwin-size 1000 640")
    demo = runpy.run_path(str(DEMO))
    demo["CLOCK"].setMode(ClockObject.MNonRealTime)
    demo["CLOCK"].setDt(1 / demo["RATE"])
    game = demo["Range"]()
    for k in range(2 * demo["RATE"]):
        game.in_past = k >= demo["RATE"]
        game.taskMgr.step()
    then = game.history.limbs_at(game.time)
    heads = 0.5 * (then.p1 + then.p2)[then.hit_group == demo["GROUPS"]["head"]]
    near = heads[np.linalg.norm(heads - game.place, axis=1).argmin()]
    game.shoot((game.place, 2.0 * near - game.place))
    game.taskMgr.step()
    game.win.saveScreenshot(path)
    print(game.text.getText())


if __name__ == "__main__":
    main(sys.argv[1])

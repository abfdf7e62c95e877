"""The record of one case that replays on PyBullet, which reports a hit 1 mm before the surface."""

RECORD = {
    "family": "made", "seed": 0, "chunk": 0, "scene": 0, "row": 0, "kind": "early", "cause": "",
    "setup": {"construction": "geom", "margin": None, "spin": 0.0, "moved": 0.0, "stale": False, "fresh": False},
    "p1": [[0.0, 0.0, -0.2], [5.0, 0.0, -0.2]], "p2": [[0.0, 0.0, 0.2], [5.0, 0.0, 0.2]], "radius": [0.1, 0.1],
    "start": [-1.0, 0.0, 0.0], "end": [1.0, 0.01, 0.03],
    "limb_true": 0, "limb_engine": 0, "fraction_true": 0.45, "fraction_engine": 0.4495,
    "normal_true": [-1.0, 0.0, 0.0], "normal_engine": [-1.0, 0.0, 0.0], "amount": -0.001,
    "measured": None, "bound": None,
    "engine": "bullet", "options": {}, "names": ["left_arm", "right_arm"],
    "before": [], "after": [], "was": [],
}  # fmt: skip

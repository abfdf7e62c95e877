"""The page on adding an engine: its example is executed and tested as every engine."""

import re
from pathlib import Path

import numpy as np
import pytest

import cylcollide as cc

PAGE = (Path(__file__).parents[2] / "docs" / "adding_an_engine.md").read_text()


@pytest.fixture(scope="module")
def ball_engine():
    (source,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    names = {}
    exec(compile(source, "adding_an_engine.md", "exec"), names)
    return names["BallEngine"]


def test_the_example_agrees_with_the_truth(ball_engine):
    rng = np.random.default_rng(2)
    limbs = cc.Limbs.spheres(rng.uniform(-2, 2, (12, 3)), rng.uniform(0.2, 0.6, 12))
    start, end = rng.uniform(-2.5, 2.5, (2, 2000, 3))
    with ball_engine() as engine:
        engine.build(limbs)
        for shift in (0.0, 0.5):
            engine.set_endpoints(limbs.p1 + shift, limbs.p2 + shift)
            hits = engine.cast_segments(start, end)
            true = cc.HitWorld(limbs.moved(limbs.p1 + shift, limbs.p2 + shift)).cast_segments(start, end)
            assert np.mean(hits.limb == true.limb) > 0.995
            both = (hits.limb == true.limb) & true.hit
            assert np.sum(both & true.started_inside) > 20
            assert np.sum(both & ~true.started_inside) > 200
            away = np.linalg.norm(hits.position - true.position, axis=1)[both]
            assert np.median(away) < engine.capabilities.accuracy
        with pytest.raises(ValueError, match="spheres"):
            engine.build(cc.Limbs.capsules([[0, 0, 0]], [[0, 0, 1]], 0.1))
        engine.close()


def test_the_example_declares_its_limits(ball_engine):
    said = ball_engine.capabilities.cannot()
    assert said[0].startswith("no cylinder")
    assert {"float32", "no position", "no normal", "impractical above 1,000 limbs"} <= set(said)

"""Contact of boxes in rational arithmetic: faces and edges that touch, or are just apart."""

import pytest

from cylcollide.exact.ball_and_box import boxes_touch

pytestmark = [pytest.mark.plain_python, pytest.mark.coverage]

UNIT = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 1.0)
ROOF = (0.5, 0.5, 0.0, -0.5, 0.5, 0.0, 0.0, 0.0, 1.0, 0.5, 0.5, 1.0)  # its edges are at |x| + |y| = 1
ACROSS = (0.5, 0.0, 0.5, 0.0, 1.0, 0.0, -0.5, 0.0, 0.5, 0.5, 1.0, 0.5)  # its edges are at |x| + |z| = 1


@pytest.mark.parametrize(
    ("one", "other", "reach", "way"),
    [(UNIT, UNIT, 2.0, 0), (UNIT, UNIT, 2.0, 2), (UNIT, ROOF, 2.0, 1), (ROOF, ACROSS, 2.0, 0)],
)
def test_boxes_touch_up_to_distance(one, other, reach, way):
    for distance, touches in ((0.0, True), (reach, True), (reach + 2.0**-40, False)):
        place = tuple(distance * (k == way) for k in range(3))
        assert boxes_touch(((0.0, 0.0, 0.0), one), (place, other)) == touches
        assert boxes_touch((place, other), ((0.0, 0.0, 0.0), one)) == touches

"""One everyday limb of each shape, in the same place."""

import numpy as np

import cylcollide as cc
from cylcollide._types import Shape

CENTER, AXIS = np.array([0.5, -1.0, 2.0]), np.array([0.6, 0.0, 0.8])
ACROSS = np.array([-0.8, 0.0, 0.6])
HALF, RADIUS = 0.4, 0.3
P1, P2 = [CENTER - HALF * AXIS], [CENTER + HALF * AXIS]
BOX_TURN = [0.0, np.sin(0.5 * np.arctan2(0.6, 0.8)), 0.0, np.cos(0.5 * np.arctan2(0.6, 0.8))]  # z to AXIS

LIMBS = {
    Shape.CYLINDER: cc.Limbs.cylinders(P1, P2, RADIUS),
    Shape.TUBE: cc.Limbs.tubes(P1, P2, RADIUS, 0.1),
    Shape.TAPERED: cc.Limbs.tapered_cylinders(P1, P2, RADIUS, 0.2),
    Shape.ELLIPSOID: cc.Limbs.ellipsoids(P1, P2, RADIUS),
    Shape.CAPSULE: cc.Limbs.capsules(P1, P2, RADIUS),
    Shape.SPHERE: cc.Limbs.spheres([CENTER], RADIUS),
    Shape.BOX: cc.Limbs.boxes([CENTER], BOX_TURN, [RADIUS, 0.2, HALF]),
}

"""
One ray, one limb
=================

A ray that passes a cylinder by a millionth of its radius: the cross-section, and the reason of the verdict.
"""

import cylcollide as cc

pillar = cc.Limbs.cylinders([[0, 0, -1]], [[0, 0, 1]], 0.5)
explanation = pillar.explain_segment([-3, 0.5000005, 0.2], [3, 0.5000005, 0.1])
print(explanation)
figure = explanation.plot()

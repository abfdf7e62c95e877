"""
A rig
=====

The built-in humanoid: 17 limbs on 17 bones, coloured by hit group.
"""

import cylcollide as cc

rig = cc.Rig.humanoid(height=1.80)
print(rig)
figure = rig.plot()

"""Valid files of the formats that rigs and clips are read from."""

URDF = """<?xml version="1.0"?>
<robot name="scarecrow">
  <link name="arm"><collision><origin xyz="0.3 0 0" rpy="0 1.5707963267948966 0"/>
    <geometry><cylinder length="0.6" radius="0.05"/></geometry></collision></link>
  <link name="pole">
    <visual><geometry><mesh filename="pole.dae"/></geometry></visual>
    <collision><geometry><cylinder length="2" radius="0.1"/></geometry></collision>
    <collision name="foot"><origin xyz="0 0 -1"/><geometry><box size="0.6 0.4 0.2"/></geometry></collision>
    <collision><origin rpy="1.5707963267948966 0 0"/><geometry><capsule length="0.5" radius="0.2"/></geometry>
    </collision>
  </link>
  <link name="head"><collision><geometry><sphere radius="0.15"/></geometry></collision></link>
  <link name="hat"/>
  <joint name="shoulder" type="revolute"><origin xyz="0.1 0 0.5" rpy="0 0 1.5707963267948966"/>
    <parent link="pole"/><child link="arm"/><axis xyz="0 0 1"/><limit lower="-1" upper="1" effort="1" velocity="1"/>
  </joint>
  <joint name="neck" type="fixed"><origin xyz="0 0 1.1"/><parent link="pole"/><child link="head"/></joint>
  <joint name="crown" type="fixed"><parent link="head"/><child link="hat"/></joint>
  <transmission name="noise"/>
</robot>
"""
"""Every shape, revolute and fixed joints, and elements that are not limbs."""

MJCF = """<mujoco model="mannequin">
  <compiler angle="degree"/>
  <default><geom density="500"/><default class="stick"><geom type="capsule" size="0.05"/></default></default>
  <worldbody>
    <geom name="floor" type="plane" size="1 1 1"/>
    <body name="hip" pos="0 0 1" euler="0 0 30">
      <freejoint/>
      <geom type="sphere" size="0.2" pos="0.1 0 0"/>
      <geom name="belt" type="cylinder" size="0.3 0.1" euler="90 0 0"/>
      <geom name="shine" type="sphere" size="0.5" contype="0" conaffinity="0"/>
      <body name="thigh" pos="0 0.1 0" quat="1 1 0 0">
        <joint type="ball"/>
        <geom class="stick" fromto="0 0 0 0.3 0 -0.4"/>
        <geom name="pad" type="box" size="0.1 0.2 0.3" pos="0 0 -0.2" axisangle="0 1 0 40"/>
        <body pos="0.3 0 -0.4">
          <joint type="hinge" axis="0 1 0"/>
          <geom type="ellipsoid" size="0.3 0.1 0.1" euler="10 20 30"/>
          <geom type="ellipsoid" size="0.1 0.3 0.1" euler="10 20 30"/>
          <geom type="ellipsoid" size="0.1 0.1 0.3" euler="10 20 30"/>
        </body>
      </body>
    </body>
    <body name="ball" pos="3 0 0"><freejoint/><geom type="sphere" size="0.1"/></body>
  </worldbody>
</mujoco>
"""
"""Every shape, defaults, a floor, and a geom that collides with nothing."""

BVH_HIERARCHY = """HIERARCHY
ROOT hip
{
  OFFSET 1 2 3
  CHANNELS 6 Xposition Yposition Zposition Zrotation Yrotation Xrotation
  JOINT upper leg
  {
    OFFSET 0 -4 0.5
    CHANNELS 3 %s
    End Site
    {
      OFFSET 0 -5 0
    }
  }
  JOINT arm
  {
    OFFSET 1e1 0 .5
    CHANNELS 0
  }
}
MOTION
Frames: 2
Frame Time: 0.25
"""
BVH_ROWS = "10 20 30 40 50 60 -70 15 100\n11 21 31 0 0 90 0 90 0\n"
BVH = BVH_HIERARCHY % "Zrotation Xrotation Yrotation" + BVH_ROWS

DEEPMIMIC = {"Loop": "none", "Frames": [[0.1, 0, 1, 0, 1, 0, 0, 0, *[1, 0, 0, 0] * 3, 0.5, *[1, 0, 0, 0] * 2, 0.5,
                                   *[1, 0, 0, 0], 0.5, *[1, 0, 0, 0] * 2, 0.5]] * 3}  # fmt: skip

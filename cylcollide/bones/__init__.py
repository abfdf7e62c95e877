"""Bones: rotations, poses between two others, joints to poses, and limbs of rigs placed by their bones."""

"""Compiled functions of numbers for one ray or point and one limb, or for eight of each: a file per shape or task."""

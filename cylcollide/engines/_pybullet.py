"""PyBullet for the engines and the cross-check; `cylcollide.bullet`, which lies below them, is where it is imported."""

from cylcollide.bullet._pybullet import data_folder, pybullet

__all__ = ["data_folder", "pybullet"]

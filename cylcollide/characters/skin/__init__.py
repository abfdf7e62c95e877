"""Skins: meshes moved by bones, limbs fitted to them, and measures of the fit."""

from cylcollide.characters.skin.report import Fit, SkinReport, skin_report
from cylcollide.characters.skin.skin import Skin

__all__ = ["Fit", "Skin", "SkinReport", "skin_report"]

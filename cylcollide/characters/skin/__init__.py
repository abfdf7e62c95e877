"""Skins: meshes that bones carry, the limbs fitted to them, and how well they fit."""

from cylcollide.characters.skin.report import Fit, SkinReport, skin_report
from cylcollide.characters.skin.skin import Skin

__all__ = ["Fit", "Skin", "SkinReport", "skin_report"]

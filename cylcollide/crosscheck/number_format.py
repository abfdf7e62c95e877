"""Numbers in words: lengths with units, angles, shares, counts."""

import numpy as np

UNITS = ((1.0, "m"), (1e-3, "mm"), (1e-6, "µm"), (1e-9, "nm"))


SPACE = "\u00a0"  # a number stays on one line with its unit


def length(metres: float | None) -> str:
    """Three digits in the unit that fits: ``0.87 mm``; an en dash for nan or None."""
    if metres is None or np.isnan(metres):
        return "–"
    # 0.9999 mm is 1 mm, not 1,000 µm: the unit is that of the digits that are shown.
    shown = abs(float(f"{metres:.3g}"))
    size, unit = next(((size, unit) for size, unit in UNITS if shown >= size), UNITS[-1])
    return f"{digits(metres / size)}{SPACE}{unit}" if abs(metres) >= 1e-12 else f"0{SPACE}mm"


def digits(value: float) -> str:
    """Three significant digits without an exponent where that reads well; an en dash for nan."""
    if np.isnan(value):
        return "–"
    size = abs(value)
    if size >= 100:
        return f"{value:,.0f}"
    if size >= 1e-4:
        return f"{value:.3g}"
    return f"{value:.1e}" if size > 0.0 else "0"


def fixed(value: float | None) -> str:
    """Three decimals for a column of numbers; an en dash for None."""
    return "–" if value is None else "< 0.001" if 0.0 < value < 0.0005 else f"{value:,.3f}"


def angle(degrees: float | None) -> str:
    """Degrees with their sign of the unit, below a thousandth said so; an en dash for nan or None."""
    if degrees is None or np.isnan(degrees):
        return "–"
    return f"{degrees:.3g}°" if degrees >= 1e-3 else "less than 0.001°"


def percent(part: int, whole: int) -> str:
    """A share in per cent, never rounded to 0 or 100 when it is not."""
    if part == 0 or whole == 0:
        return f"0{SPACE}%"
    share = 100.0 * part / whole
    if 0.0 < share < 0.01:
        return f"less than 0.01{SPACE}%"
    if 99.95 <= share < 100.0:
        return f"over 99.9{SPACE}%"
    return (f"{share:.2f}" if share < 1.0 else f"{share:.1f}".removesuffix(".0")) + f"{SPACE}%"


def counted(number: int, singular: str, plural: str | None = None) -> str:
    """``1 pose``, ``2,000 poses``."""
    return f"{number:,} {singular if number == 1 else plural or singular + 's'}"


def power(exponent: float) -> str:
    """A power of ten, ``10⁻³``."""
    return "10" + str(int(exponent)).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))


def scale_words(radius: float) -> str:
    """A radius on an axis."""
    return f"{digits(1e2 * radius)}{SPACE}cm" if 0.01 <= radius < 1.0 else length(radius)


def listed(parts: list[str]) -> str:
    """``a``, ``a and b``, ``a, b and c``."""
    return " and ".join(filter(None, (", ".join(parts[:-1]), parts[-1]))) if parts else ""


def all_or(part: int, whole: int) -> str:
    """``all``, or how many."""
    return "all" if part == whole else f"{part:,}"

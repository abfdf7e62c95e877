"""The figure of one segment and one limb: a cut through the limb along the segment, and its bounds as bars beneath."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from cylcollide._types import Float64Array, Shape
from cylcollide.kernels.box import box_axes
from cylcollide.kernels.clearance import growths_to_reach
from cylcollide.kernels.limb_table import Limb
from cylcollide.limbs.figures import new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PIXELS = 400  # grid points along a side of the cut
LIMB, RAY, INSIDE, FAINT = "#c8d7e6", "#444444", "#d1495b", "#8aa1b8"
SHOWN = (-0.5, 1.5)  # range of fractions of the bars


class Subject(NamedTuple):
    """The content of the figure. Stretches are fractions of the segment."""

    shape: Shape
    limb: Limb
    segment: Float64Array  # (2, 3), start and end
    nearest: float  # fraction of the point nearest to the limb's surface, or deepest in it
    passed: Sequence[tuple[float, float, str]]  # stretches inside, and the name of the face at entry
    bounds: Sequence[tuple[str, float, float]]  # name, begins, ends
    title: str


class Plane(NamedTuple):
    """The cutting plane: through the segment, along the limb's axis. Rows are unit vectors."""

    centre: Float64Array  # (3,), of the limb
    along: Float64Array  # (3,)
    across: Float64Array  # (3,)
    offset: float  # signed distance of the plane from the centre, along its normal

    def flat(self, points: Float64Array) -> Float64Array:
        """Points (n, 3) in the plane's own coordinates, (n, 2)."""
        return np.asarray((points - self.centre) @ np.array([self.along, self.across]).T)

    def solid(self, x: Float64Array, y: Float64Array, offset: float) -> Float64Array:
        """Points (n, 3) from coordinates (n,), in the plane at this offset from the centre."""
        normal = np.cross(self.along, self.across)
        return np.asarray(self.centre + np.outer(x, self.along) + np.outer(y, self.across) + offset * normal)


def draw(subject: Subject) -> "Figure":
    """The figure: the cut, and beneath it when the segment is within each bound."""
    figure = new_figure("Explanation.plot", 7.0, 6.5)
    cut, bars = figure.subplots(2, 1, height_ratios=[3, 1])
    draw_cut(cut, subject)
    draw_bounds(bars, subject)
    figure.suptitle(subject.title, fontsize=11)
    return figure


def cutting_plane(subject: Subject) -> Plane:
    """The plane of the segment and the axis' direction: of a ball, through its centre; of a box, its third axis."""
    limb, (start, end) = subject.limb, subject.segment
    centre, is_box = np.array(limb.centre), subject.shape == Shape.BOX
    axis = np.array(box_axes(limb)[0][2] if is_box else limb.axis)
    step = end - start
    candidates = [axis, step, start - centre, *np.eye(3)]
    along = next(unit for v in candidates if (unit := _unit(v, [])) is not None)
    across = next(unit for v in candidates if (unit := _unit(v, [along])) is not None)
    return Plane(centre, along, across, float((start - centre) @ np.cross(along, across)))


def _unit(v: Float64Array, others: list[Float64Array]) -> Float64Array | None:
    """The part of v at right angles to the others, of length 1; None if what is left of it is rounding."""
    size = np.abs(v).max()
    if size == 0.0:
        return None
    v = v / size
    for other in others:
        v = v - (v @ other) * other
    length = float(np.linalg.norm(v))
    return v / length if length > 1e-9 else None  # the drawing resolves a thousandth


def draw_cut(axes: Any, subject: Subject) -> None:
    """Draw the limb in the plane of the segment; dashed, its outline in the parallel plane through its centre."""
    plane, (start, end) = cutting_plane(subject), subject.segment
    ends = plane.flat(subject.segment)
    near = plane.flat((start + subject.nearest * (end - start))[None])[0]
    low, high = _window(subject, ends, near)
    x, y = (np.linspace(low[k], high[k], PIXELS) for k in (0, 1))
    for offset, dashed in ((plane.offset, False), (0.0, True)):
        growth = _growths(plane, x, y, offset, subject.limb)
        if growth.min() < 0.0 < growth.max():
            if not dashed:
                axes.contourf(x, y, growth, levels=[growth.min(), 0.0], colors=[LIMB])
            axes.contour(x, y, growth, levels=[0.0], colors=[FAINT], linestyles="--" if dashed else "-")
    axes.plot(*ends.T, color=RAY, linewidth=1.0)
    tail, head = _visible(ends, low, high)
    axes.annotate("", head, tail, arrowprops={"arrowstyle": "->", "color": RAY, "shrinkA": 0, "shrinkB": 0})
    for entry, leave, face in subject.passed:
        stretch = plane.flat(np.array([start + t * (end - start) for t in (entry, leave)]))
        axes.plot(*stretch.T, color=INSIDE, linewidth=2.5, marker="o", markersize=4)
        axes.annotate(face, stretch[0], (6, 6), textcoords="offset points", fontsize=8)
    axes.plot(*near, marker="x", color=RAY)
    axes.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), aspect="equal", xlabel="along the axis", ylabel="across")
    title = f"cut through the segment, {abs(plane.offset):.3g} beside the centre; dashed: at the centre; ×: nearest"
    axes.set_title(title, fontsize=8)


def _growths(plane: Plane, x: Float64Array, y: Float64Array, offset: float, limb: Limb) -> Float64Array:
    """Growth at which the limb reaches each point of a grid, (len(y), len(x))."""
    right, up = np.meshgrid(x, y)
    growth = np.empty(right.size)
    growths_to_reach(plane.solid(right.ravel(), up.ravel(), offset), limb, growth)
    return growth.reshape(right.shape)


def _window(subject: Subject, ends: Float64Array, near: Float64Array) -> tuple[Float64Array, Float64Array]:
    """Corners of the section drawn: the limb, the nearest point, and the part of the segment that is not far away."""
    limb = subject.limb
    if subject.shape == Shape.BOX:
        reach = np.full(2, float(np.linalg.norm(box_axes(limb)[1])))
    else:
        balls = subject.shape in (Shape.CAPSULE, Shape.SPHERE)
        reach = np.array([limb.half_length + balls * limb.radius, limb.radius])
    low, high = np.minimum(-reach, near), np.maximum(reach, near)
    far = 1.5 * float((high - low).max())
    low = np.minimum(low, np.maximum(ends.min(axis=0), low - 0.5 * far))
    high = np.maximum(high, np.minimum(ends.max(axis=0), high + 0.5 * far))
    margin = 0.08 * float((high - low).max())
    return low - margin, high + margin


def _visible(ends: Float64Array, low: Float64Array, high: Float64Array) -> Float64Array:
    """The part of a segment (2, 2) in the window, all of it if none is."""
    with np.errstate(divide="ignore", invalid="ignore"):
        times = (np.array([low, high]) - ends[0]) / (ends[1] - ends[0])
    first, last = np.fmax(0.0, np.nanmax(times.min(axis=0))), np.fmin(1.0, np.nanmin(times.max(axis=0)))
    return ends if not first < last else ends[0] + np.outer([first, last], ends[1] - ends[0])


def draw_bounds(axes: Any, subject: Subject) -> None:
    """Draw a bar for each bound, over the fraction of the segment."""
    rows = [*subject.bounds, ("segment", 0.0, 1.0), *[("inside", entry, leave) for entry, leave, _ in subject.passed]]
    names = list(dict.fromkeys(name for name, _, _ in rows))
    for name, begins, ends in rows:
        first, last = max(begins, SHOWN[0]), min(ends, SHOWN[1])
        color = {"segment": RAY, "inside": INSIDE, "bore": FAINT}.get(name, LIMB)
        if first <= last:
            # a touch has no width: the edge shows it
            axes.barh(names.index(name), last - first, left=first, height=0.6, color=color, edgecolor=color)
    axes.axvspan(0.0, 1.0, color="#00000010")
    axes.set(xlim=SHOWN, yticks=range(len(names)), yticklabels=names, ylim=(len(names) - 0.5, -0.5))
    axes.set_xlabel("fraction of the segment")

"""A case in pictures: a section in the plane of its segment and the normal of the surface, and in three dimensions.

In the section the segment is the horizontal axis, and gaps of a micrometre have their true shape. Solids are drawn by
their signed distance, which is convex: every column of the picture intersects one in an interval, found by bisection.
"""

import colorsys
from dataclasses import dataclass
from typing import Any

import numpy as np
import plotly.graph_objects as go

from cylcollide._types import Float64Array
from cylcollide.crosscheck.cases.wording import UNITS
from cylcollide.crosscheck.compare.disagreements import VERDICTS, Cause, Kind
from cylcollide.crosscheck.generate.shots import across, unit
from cylcollide.crosscheck.records import JsonObject
from cylcollide.crosscheck.report.chart_style import COLORS, bare
from cylcollide.crosscheck.report.drawn_case import Drawn
from cylcollide.engines.rounded_cylinder import Least, Rounded
from cylcollide.limbs.explain_drawing import visible
from cylcollide.limbs.limbs import Limbs
from cylcollide.limbs.meshes import tessellate

COLUMNS, MARGIN_COLUMNS = 180, 30
"""Number of columns in the window, and beyond each of its sides."""
BEYOND = 4.0
"""Solids are drawn as far as this many half windows, for windows that are wider than high."""
BISECTIONS = 60
TALL = 0.64
"""Ratio of the window's height to its width."""

ANSWERS = (("true", "true hit", "true", "circle"), ("engine", "reported hit", "early", "diamond"))
"""The sides of a case: name of the answer, its colour and symbol."""

WHOLE_LIMB = (Cause.INSIDE_START, Cause.NO_CORE_DISTANCE, Cause.BROAD_PHASE, Cause.API_LIMIT)
"""Causes that are visible on the whole limb, not on its surface."""


def cut(drawn: Drawn) -> go.Figure:
    """Draw one case; the origin is the true hit or, without one, the point of the segment nearest to the limb."""
    path, out, origin = drawn.direction, outward(drawn), _origin(drawn)
    points = [drawn.hit(side) for side in ("true", "engine")]
    true, engine = (None if point is None else float((point - origin) @ path) for point in points)
    # For a missed hit and a wrong limb, the true hit may be far away.
    seen = (engine, 0.0) if drawn.case.kind_code in VERDICTS else (true, engine, 0.0)
    places = [at for at in seen if at is not None]
    middle, half = 0.5 * (min(places) + max(places)), _half(drawn, max(places) - min(places))
    # The unit in which the window is at least a few units wide.
    size, name = next(((size, name) for size, name in UNITS if half >= 0.9 * size), UNITS[-1])
    plane = CutPlane(origin + middle * path, path, out, BEYOND * half)
    figure = go.Figure()
    held = drawn.held if drawn.case.cause_code != Cause.API_LIMIT else None  # an inside-out solid has no such shape
    if held is not None and drawn.calibration is not None and drawn.calibration.stop > 0:
        _add_region(figure, plane.region(held, drawn.calibration.stop), middle, size, "shell")
    for limb in dict.fromkeys((drawn.limb, max(drawn.case.limb_true, 0), max(drawn.case.limb_engine, 0))):
        _add_region(figure, plane.region(drawn.true(limb), 0.0), middle, size, "true")
    if held is not None:
        _add_region(figure, plane.region(held, 0.0), middle, size, "held")
    begin, finish = float((drawn.start - origin) @ path), float((drawn.end - origin) @ path)
    window = (middle - 9 * half, middle + 9 * half)
    ends = (max(begin, window[0]) / size, min(finish, window[1]) / size)
    _add_path(figure, ends, (middle - 0.8 * half) / size, (begin > window[0], finish < window[1]))
    for (side, text, color, symbol), at in zip(ANSWERS, (true, engine), strict=True):
        if at is not None:
            # The point on the path, and the component of the normal in the plane.
            along, aside = (0.4 * half * float(drawn.normal(side) @ axis) / size for axis in (path, out))
            marker = {"size": [11, 0], "symbol": symbol, "color": COLORS[color]}
            look = {"mode": "lines+markers", "line": {"width": 3, "color": COLORS[color]}, "marker": marker}
            figure.add_scatter(x=[at / size, at / size + along], y=[0.0, aside], name=text, hoverinfo="name+x", **look)
    plain = {"zeroline": False, "constrain": "domain"}
    across, tall = [(middle - half) / size, (middle + half) / size], TALL * half / size
    figure.update_xaxes(title=f"{name} along the segment", range=across, **plain)
    figure.update_yaxes(title=f"{name} outward", range=[-tall, tall], scaleanchor="x", **plain)
    return figure.update_layout(showlegend=False)


@dataclass(frozen=True)
class CutPlane:
    """The plane of a picture, centred on the window: all vectors (3,), metres."""

    middle: Float64Array
    path: Float64Array
    out: Float64Array
    reach: float

    def region(self, solid: Rounded, level: float) -> Float64Array | None:
        """Corners (n, 2), metres from the middle, of the region with a signed distance of at most ``level``."""
        half = self.reach / BEYOND
        inner = np.linspace(-1.1 * half, 1.1 * half, COLUMNS)
        outer = np.geomspace(1.15 * half, self.reach, MARGIN_COLUMNS)
        columns = np.concatenate([-outer[::-1], inner, outer])
        inside = np.flatnonzero(self._least(solid, columns).distance <= level)
        if len(inside) == 0:
            return None
        # The last column on either side that intersects the solid, by bisection with the next one, which does not.
        edges = []
        for last, beyond in ((inside[0], inside[0] - 1), (inside[-1], inside[-1] + 1)):
            if 0 <= beyond < len(columns):
                hit, missed = float(columns[last]), float(columns[beyond])
                for _ in range(BISECTIONS):
                    middle = 0.5 * (hit + missed)
                    is_hit = self._least(solid, np.array([middle])).distance[0] <= level
                    hit, missed = (middle, missed) if is_hit else (hit, middle)
                edges.append(hit)
        columns = np.sort(np.concatenate([columns[inside], edges]))
        least, every = self._least(solid, columns), solid.taken(np.zeros(len(columns), dtype=np.int64))
        low, high = self._ends(columns)
        at = np.maximum(level, least.distance)
        up = every.first_reach(low, high, least, at)
        down = every.first_reach(high, low, Least(least.distance, 1 - least.fraction), at)
        below, above = (np.stack([columns, 2 * self.reach * h - self.reach], axis=1) for h in (up, 1 - down))
        return np.concatenate([below, above[::-1]])

    def _ends(self, columns: Float64Array) -> tuple[Float64Array, Float64Array]:
        feet = self.middle + columns[:, None] * self.path
        return feet - self.reach * self.out, feet + self.reach * self.out

    def _least(self, solid: Rounded, columns: Float64Array) -> Least:
        return solid.taken(np.zeros(len(columns), dtype=np.int64)).least_distance(*self._ends(columns))


def outward(drawn: Drawn) -> Float64Array:
    """Unit vector perpendicular to the segment, as close as possible to the normal of the surface hit or missed."""
    path, axis = drawn.direction, drawn.p2[drawn.limb] - drawn.p1[drawn.limb]
    for wanted in (drawn.true(drawn.limb).outward_normal(_origin(drawn)[None])[0], unit(axis)):
        aside = wanted - (wanted @ path) * path
        if np.linalg.norm(aside) > 1e-3:
            return unit(aside)
    # A segment along the normal has no outward side: any direction across it.
    return across(path)


def _origin(drawn: Drawn) -> Float64Array:
    true = drawn.hit("true")
    return drawn.nearest if true is None or drawn.case.kind_code in VERDICTS else true


def _half(drawn: Drawn, spread: float) -> float:
    """Half the window's width, metres: covers all places within ``spread``, and enough to show the cause."""
    case, known = drawn.case, drawn.calibration
    stop, rim, growth = (0.0, 0.0, 0.0) if known is None else (known.stop, known.rim, max(known.side_growth[1], 0.0))
    amount = 0.0 if case.amount is None or case.kind_code == Kind.NORMAL else abs(case.amount)
    least = {
        Cause.TERMINATION: 2.2 * stop,
        Cause.RIM_ROUNDING: 2.0 * rim,
        Cause.SHAPE: max(2.5 * growth, 2.2 * stop),
        Cause.SEGMENT_END: 2.2 * stop if case.kind_code == Kind.PHANTOM else 3.0 * amount,
        Cause.BIG_SHAPE: 2.0 * rim if case.kind_code == Kind.MISSED else 0.0,
    }.get(case.cause_code, 0.0)
    if case.cause_code in WHOLE_LIMB or case.fraction_true == 0.0:
        least = 1.9 * drawn.radius
    of_verdict = case.kind_code in VERDICTS and case.kind_code != Kind.WRONG_LIMB
    shown = max(0.75 * spread, least, 3.0 * amount if of_verdict and least == 0.0 else 0.0)
    # Only a normal differs, which is visible on any scale.
    return shown if shown > 1e-9 * drawn.radius else 0.3 * drawn.radius


LOOK = {
    "shell": {"fillcolor": "rgba(224, 86, 74, 0.20)", "line": {"width": 0, "color": "rgba(224, 86, 74, 0.5)"}},
    "true": {"fillcolor": "rgba(127, 150, 190, 0.55)", "line": {"width": 1.5, "color": "#5f7396"}},
    "held": {"fillcolor": "rgba(0, 0, 0, 0)", "line": {"width": 1.8, "color": "#c2372b", "dash": "dash"}},
}
NAMES = {"shell": "where a hit is reported", "true": "the limb", "held": "what the engine holds"}


def _add_region(figure: go.Figure, corners: Float64Array | None, middle: float, size: float, what: str) -> None:
    if corners is None:
        return
    closed = np.concatenate([corners, corners[:1]])
    # Numbers are relative to the window's middle, for which single precision suffices.
    x, y = ((closed[:, 0] + middle) / size).astype(np.float32), (closed[:, 1] / size).astype(np.float32)
    figure.add_scatter(x=x, y=y, fill="toself", mode="lines", name=NAMES[what], hoverinfo="skip", **LOOK[what])


def _add_path(figure: go.Figure, ends: tuple[float, float], arrow: float, drawn: tuple[bool, bool]) -> None:
    """Add the path between two places on the axis with an arrow head at a third; ends are marked if ``drawn``."""
    ahead = ends[0] < arrow < ends[1]
    symbols = ["circle", "triangle-right", "square"]
    marks: dict[str, Any] = {"symbol": symbols, "size": [9 * drawn[0], 13 * ahead, 8 * drawn[1]]}
    x = [ends[0], arrow if ahead else ends[0], ends[1]]
    look = {"mode": "lines+markers", "line": {"width": 2}, "marker": marks, "meta": "path"}
    figure.add_scatter(x=x, y=[0.0, 0.0, 0.0], name="path", hoverinfo="name", **look)


CORNERS = 24
"""Number of corners of a drawn circle."""
UP = np.array([0.0, 1.0, 0.0])
"""The humanoid's up axis is y."""
NEARER, FARTHER = 1.35, 1.755
"""Distance of the eye in half views: one or two limbs fill the view more than a character does."""
LIGHT = {
    "lighting": {"ambient": 0.62, "diffuse": 0.55, "specular": 0.08, "roughness": 0.9, "fresnel": 0.05},
    "lightposition": {"x": 2000, "y": 8000, "z": 4000},
}


def view(drawn: Drawn) -> JsonObject:
    """The page's data to draw a case: ``limbs`` and ``answers`` as traces, ``layout`` of the view, and ``section``."""
    return {"limbs": _limbs(drawn).to_dict()["data"], **_view(drawn), "section": bare(cut(drawn))}


def limb_colors(count: int) -> list[str]:
    """Soft colours with hues a golden angle apart, so that neighbours differ."""
    shades = (colorsys.hls_to_rgb(0.58 + 0.381966 * i, 0.64, 0.42) for i in range(count))
    return ["#" + "".join(f"{round(255 * c):02x}" for c in shade) for shade in shades]


def _limbs(drawn: Drawn) -> go.Figure:
    """One mesh per limb and the rims of all of them as lines."""
    figure, rims = go.Figure(), []
    limbs = Limbs.cylinders(drawn.p1, drawn.p2, drawn.case.radius)
    for limb, color in enumerate(limb_colors(len(limbs))):
        points, triangles, _ = tessellate(limbs[limb]._table, CORNERS)
        caps = np.r_[:CORNERS, 3 * CORNERS : 4 * CORNERS]
        triangles[caps] += len(points)  # wall and caps share no points, for sharp rims
        columns = (*np.concatenate([points, points]).T, *triangles.astype(np.uint8).T)
        mesh: dict[str, Any] = dict(zip("xyzijk", columns, strict=True))
        figure.add_mesh3d(**mesh, color=color, name=drawn.case.name(limb), hoverinfo="name", **LIGHT)
        for rim in points[CORNERS : 3 * CORNERS].reshape(2, CORNERS, 3):
            rims += [rim, rim[:1], np.full((1, 3), np.nan)]
    _add_line(figure, np.concatenate(rims), "ink", 1.5)
    return figure


def _view(drawn: Drawn) -> JsonObject:
    """The answers, viewed with the hit facing the viewer and the path running across."""
    reach = max(drawn.case.radius)
    low, high = np.minimum(drawn.p1, drawn.p2).min(axis=0) - reach, np.maximum(drawn.p1, drawn.p2).max(axis=0) + reach
    center, half = (low + high) / 2.0, float((high - low).max()) / 2.0
    path, figure = drawn.direction, go.Figure()
    # A segment without length gets an invisible one.
    end = drawn.end if drawn.case.length else drawn.start + 1e-6 * drawn.radius * path
    seen = visible(np.array([drawn.start, end]), center - half, center + half)
    _add_line(figure, seen, "path", 5.0, name="path")
    at, along = seen[0] + 0.2 * (seen[1] - seen[0]), unit(seen[1] - seen[0])
    arrow = {name: [float(number)] for name, number in zip("xyzuvw", (*at, *along), strict=True)}
    look = {"sizemode": "raw", "sizeref": 0.4 * (0.25 * half), "anchor": "center", "showscale": False, "meta": "path"}
    figure.add_cone(**arrow, **look, hoverinfo="skip", lighting={"ambient": 0.9, "diffuse": 0.2})
    for side, name, color, symbol in ANSWERS:
        position = drawn.hit(side)
        if position is not None:
            _add_line(figure, np.array([position, position + 0.25 * half * drawn.normal(side)]), color, 6.0, name=name)
            x, y, z = ([c] for c in position.tolist())
            marker = {"size": 6, "color": COLORS[color], "symbol": symbol}
            figure.add_scatter3d(x=x, y=y, z=z, mode="markers", name=name, marker=marker, hoverinfo="name")
    eye = (NEARER if len(drawn.p1) > 2 else FARTHER) * unit(outward(drawn) + 0.3 * UP - 0.3 * path)
    vectors = {"eye": eye, "up": UP, "center": np.zeros(3)}
    camera = {name: dict(zip("xyz", vector.tolist(), strict=True)) for name, vector in vectors.items()}
    ranges = {
        f"{name}axis": {"range": [float(middle - half), float(middle + half)], "visible": False}
        for name, middle in zip("xyz", center, strict=True)
    }
    return {"answers": figure.to_dict()["data"], "layout": {**ranges, "aspectmode": "cube", "camera": camera}}


def _add_line(figure: go.Figure, points: Float64Array, color: str, width: float, name: str = "") -> None:
    """Add a line through points (n, 3), broken at nan; the page colours ``ink`` and ``path``."""
    x, y, z = points.astype(np.float32).T
    line = {"width": width} if color in ("ink", "path") else {"width": width, "color": COLORS[color]}
    hover = "name" if name else "skip"
    figure.add_scatter3d(x=x, y=y, z=z, mode="lines", line=line, meta=color, name=name, hoverinfo=hover)

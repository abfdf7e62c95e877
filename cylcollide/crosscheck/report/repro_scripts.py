"""Scripts that show the engine's wrong answer beside the right one, with nothing but the engine and rational numbers.

Bullet casts a ray at every body by itself, so a script holds only the limbs that matter: the true one and the engine's.
The bodies are built from the same numbers as in :mod:`cylcollide.engines.bullet`, to the last bit.
"""

from collections.abc import Sequence
from pathlib import Path

from cylcollide.crosscheck.cases import wording
from cylcollide.crosscheck.cases.case import BULLET, Case, write_cases
from cylcollide.crosscheck.compare.disagreements import Cause, Kind
from cylcollide.crosscheck.report.chart_style import template
from cylcollide.engines.bullet import MJCF, URDF, bodies

NEIGHBOURS_MATTER = (Cause.BROAD_PHASE.label, Cause.API_LIMIT.label)
"""Causes in which limbs that nobody names may take part: scripts hold them all."""


def write_case_files(cases: Sequence[Case], folder: Path) -> list[tuple[Path, Path]]:
    """Write ``folder/cases/01.json`` and ``folder/repro/01.py`` and on, and return the pair of each case.

    Files of an earlier run go. The JSON file is what ``cylcollide replay`` takes; the script needs the engine alone.
    ValueError for a case of an engine for which there is no script.
    """
    sources = [repro_source(case) for case in cases]
    for room, suffix in (("cases", "json"), ("repro", "py")):
        (folder / room).mkdir(parents=True, exist_ok=True)
        for stale in (folder / room).glob(f"[0-9][0-9].{suffix}"):
            stale.unlink()
    written = [(folder / f"cases/{n:02d}.json", folder / f"repro/{n:02d}.py") for n in range(1, len(cases) + 1)]
    for case, source, (record, script) in zip(cases, sources, written, strict=True):
        write_cases(record, case)
        script.write_text(source, encoding="utf-8")
    return written


def repro_source(case: Case) -> str:
    """The text of one script; every coordinate is written so that it reads back as the same float64.

    The segment is called a bullet if nobody has looked for its cause. ValueError if the engine is not PyBullet, or a
    limb is spun, which no family does.
    """
    setup = case.setup
    if case.engine != BULLET:
        raise ValueError(f"engine: expected {BULLET!r}, for which there are scripts, got a case of {case.engine!r}")
    if setup.spin:
        raise ValueError(f"spin: expected 0, got {setup.spin}; a script cannot spin a limb about its axis")
    chosen = range(len(case.radius)) if case.cause in NEIGHBOURS_MATTER else case.about
    changed = setup.margin is not None or bool(setup.moved)
    found = f"Cause: {case.cause}. Case {case.address}." if case.cause else f"Bullet {case.row} of seed {case.seed}."
    headline = f"{wording.headline(case)} {found}"
    # What the engine's adapter writes into a file, as the inside of an f-string.
    xml = MJCF.format('type="cylinder" size="{radius!r} {0.5 * height!r}"')
    if setup.construction != "mjcf":
        xml = " ".join(URDF.format('<cylinder radius="{radius!r}" length="{height!r}"/>').split())
    call = {"rays": int(case.bound or 0), "arrays": case.measured == 0.0} if case.kind_code == Kind.LOST else None
    return template("repro.py.j2", escape=False).render(
        # Text that may stand between triple quotes.
        headline=headline.replace("\u00a0", " ").replace("\\", "/").replace('"', "'"),
        path="segment" if case.cause else "bullet",
        case=case,
        chosen=chosen,
        # As the engine's adapter builds them: an ulp of the height can move a hit by half a millimetre.
        bodies=bodies(case.limbs),
        setup=setup,
        xml=xml,
        plain=setup.construction == "geom" and not changed,
        refresh=setup.fresh or (changed and not setup.stale),
        normals=case.kind_code == Kind.NORMAL,
        call=call,
    )

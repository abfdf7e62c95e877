"""A story as a person reads it in a terminal."""

from collections.abc import Iterator, Sequence
from math import dist

from rich.console import Console, RenderableType
from rich.markup import escape
from rich.text import Text

from cylcollide.crosscheck.cases import words
from cylcollide.crosscheck.cases.case import BULLET, Case
from cylcollide.crosscheck.cases.recast import Replayed
from cylcollide.crosscheck.cases.story import Story, Witness, engine_title
from cylcollide.crosscheck.cases.trials import is_proved
from cylcollide.crosscheck.commands.tables import table
from cylcollide.crosscheck.number_format import angle, length

SHOWN = 6
"""Limbs that are listed; of more, those that matter."""
MISSING = "pip install"
"""What the message of an engine says whose package is missing."""
NOTHING = 1e-12
"""Metres that no unit of a table shows."""


def print_story(console: Console, story: Story) -> None:
    """Print the story step by step."""
    case = story.case
    console.rule(f"[bold]{escape(case.address)}: {case.kind}", align="left")
    console.print(Text(words.headline(story.again or case), style="bold"))
    steps = {
        "The limbs and the segment, in metres": _question(case),
        "The true answer, and why": _truth(story),
        "What the engines say": _engines(story),
        "Why": _why(story),
        "One thing changed at a time, and asked again": _interventions(story),
    }
    for number, (title, said) in enumerate(steps.items(), 1):
        console.print(f"\n[bold cyan]{number}. {title}")
        for part in said:
            console.print(part)
    console.print()
    console.print(verdict(story))


def verdict(story: Replayed) -> Text:
    """Whether the case was reproduced, in one line."""
    again = story.again
    if not story.reproduced or again is None:
        return Text.assemble(("NOT reproduced: ", "bold red"), story.instead)
    then, now = (
        "no hit" if one.fraction_engine is None else f"{one.fraction_engine!r} of the way"
        for one in (story.case, again)
    )
    how = "to the last bit" if then == now else f"at another place than saved ({then}, now {now})"
    return Text.assemble(("Reproduced ", "bold green"), f"{how}; rational arithmetic confirms the true answer.")


def overview(console: Console, stories: Sequence[Replayed]) -> None:
    """One line a case."""
    several = len({engine_title(story.case) for story in stories}) > 1
    shown = table(["row", *(("engine",) if several else ()), "case", "kind", "cause", "reproduced"], padding=0)
    shown.columns[0].justify = "right"
    for row, story in enumerate(stories):
        again = story.again or story.case
        said = Text("yes", style="green") if story.reproduced else Text(f"no: {story.instead}", style="red")
        asked = (engine_title(story.case),) if several else ()
        shown.add_row(str(row), *asked, story.case.address, story.case.kind, again.cause, said)
    console.print(shown)
    done = sum(story.reproduced for story in stories)
    console.print(f"{done:,} of {len(stories):,} reproduced; --row N tells the whole story of one.")


def _question(case: Case) -> Iterator[RenderableType]:
    listed = table(["", "from", "to", "radius", "length"])
    shown = range(len(case.radius)) if len(case.radius) <= SHOWN else case.about
    for limb in shown:
        ends = case.p1[limb], case.p2[limb]
        listed.add_row(case.name(limb), *map(_point, ends), f"{case.radius[limb]:g}", f"{dist(*ends):g}")
    listed.add_row("segment", _point(case.start), _point(case.end), "", f"{case.length:g}")
    yield listed
    if not case.built.is_default:
        yield f"PyBullet's bodies: {case.built.label}."
    if len(shown) < len(case.radius):
        yield f"And {len(case.radius) - len(shown)} other limbs, which neither answer names."


def _point(point: Sequence[float]) -> str:
    return f"({', '.join(f'{x:.9g}' for x in point)})"


def _truth(story: Story) -> Iterator[RenderableType]:
    exact, case = story.exact, story.case
    hit = f"{_name(case, exact.limb)} after {_after(case, exact.fraction)}, face {exact.face.name}"
    agree = "this library says the same" if story.proved else f"this library says limb {story.ours.limb}"
    yield f"Rational arithmetic: the segment hits {'no limb' if exact.limb < 0 else hit}; {agree}."
    for explanation in story.explanations:
        yield Text(str(explanation))


def _engines(story: Story) -> Iterator[RenderableType]:
    case, shown = story.case, table(["engine", "version", "hits"], ["after", "error", "normal off"])
    shown.add_column()
    exact = story.exact
    after = _after(case, exact.fraction)
    shown.add_row("rational arithmetic", "", _name(case, exact.limb), after, "", "", "", style="bold")
    for place, witness in enumerate(story.witnesses):
        shown.add_row(*_witness(case, witness), style="yellow" if place == 0 else "")
    yield shown
    missing = [name for name, why in story.absent.items() if MISSING in why]
    if missing:
        yield f"Not asked, since not installed: {', '.join(missing)} (pip install 'cylcollide\\[peers]')."
    for name, why in story.absent.items():
        if name not in missing:
            yield f"No answer from {name}: {escape(why)}."


def _witness(case: Case, witness: Witness) -> tuple[str | Text, ...]:
    answer = witness.answer
    if answer is None:
        return witness.engine, witness.version, "no answer", "", "", "", Text("wrong", style="red")
    error, off = witness.error, "" if witness.normal_off is None else angle(witness.normal_off)
    early = "" if error is None else f"{length(abs(error))} {'late' if error > 0 else 'early'}"
    early = "none" if error is not None and abs(error) < NOTHING else early
    right = "right limb" if answer.limb >= 0 else "right"
    said = Text(right, style="green") if witness.right else Text("wrong", style="red")
    hit = _name(case, answer.limb), _after(case, answer.fraction)
    return witness.engine, witness.version, *hit, early, off, said


def _name(case: Case, limb: int) -> str:
    return case.name(limb) if limb >= 0 else "nothing"


def _after(case: Case, fraction: float | None) -> str:
    return "" if fraction is None else f"{fraction * case.length:.9g} m"


def _why(story: Story) -> Iterator[RenderableType]:
    again, saved = story.again, story.case.cause
    if again is None:
        yield "There is no such disagreement now, so that there is no cause to find."
        return
    yield f"[bold]{again.cause[:1].upper()}{again.cause[1:]}[/]. {escape(story.why or '')}"
    if story.measured:
        yield f"Measured on {words.engine_name(again)} with a limb of this size: {', '.join(story.measured)}."
    if saved not in ("", again.cause):
        yield f"[yellow]The case was saved with another cause: {saved}."
    for other in story.now:
        if other.kind != again.kind:
            yield f"The same segment also: {escape(words.headline(other))} ({other.cause})"


def _interventions(story: Story) -> Iterator[RenderableType]:
    if story.case.engine != BULLET:
        yield "None: only PyBullet has settings to change."
        return
    if not story.trials:
        yield "None applies: no change is predicted to do what could be seen."
        return
    shown = table(["", "", ""], box=None, show_header=False, padding=(0, 2, 0, 0))
    for trial in story.trials:
        said = Text("it does", style="green") if trial.held else Text("it does NOT", style="red")
        shown.add_row(trial.change, f"predicted: it {trial.predicted}", said)
    yield shown
    yield "The cause is proved." if is_proved(story.trials) else "The cause is not proved by this."

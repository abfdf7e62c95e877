"""A story as a person reads it in a terminal."""

from collections.abc import Sequence
from math import dist

from rich.console import Console
from rich.markup import escape
from rich.text import Text

from cylcollide.crosscheck.cases import words
from cylcollide.crosscheck.cases.case import BULLET, Case
from cylcollide.crosscheck.cases.story import Replayed, Story, Witness, engine_title
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
    case, again = story.case, story.again
    console.rule(f"[bold]{escape(case.address)}: {case.kind}", align="left")
    console.print(Text(words.headline(again or case), style="bold"))
    _question(console, case)
    _truth(console, story)
    _engines(console, story)
    _why(console, story)
    _interventions(console, story)
    console.print()
    console.print(verdict(story))


def verdict(story: Replayed) -> Text:
    """Whether the case was reproduced, in one line."""
    again = story.again
    if not story.reproduced or again is None:
        return Text.assemble(("NOT reproduced: ", "bold red"), story.instead)
    same = again.fraction_engine == story.case.fraction_engine
    then, now = _fraction(story.case), _fraction(again)
    how = "to the last bit" if same else f"at another place than saved ({then}, now {now})"
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


def _step(console: Console, number: int, title: str) -> None:
    console.print()
    console.print(f"[bold cyan]{number}. {title}")


def _question(console: Console, case: Case) -> None:
    _step(console, 1, "The limbs and the segment, in metres")
    listed = table(["", "from", "to", "radius", "length"])
    shown = range(len(case.radius)) if len(case.radius) <= SHOWN else case.about
    for limb in shown:
        ends = case.p1[limb], case.p2[limb]
        listed.add_row(case.name(limb), *map(_point, ends), f"{case.radius[limb]:g}", f"{dist(*ends):g}")
    listed.add_row("segment", _point(case.start), _point(case.end), "", f"{case.length:g}")
    console.print(listed)
    if not case.built.is_default:
        console.print(f"PyBullet's bodies: {case.built.label}.")
    if len(shown) < len(case.radius):
        console.print(f"And {len(case.radius) - len(shown)} other limbs, which neither answer names.")


def _truth(console: Console, story: Story) -> None:
    _step(console, 2, "The true answer, and why")
    exact, case = story.live.exact, story.case
    ours = story.live.ours
    what = "no limb" if exact.limb < 0 or exact.fraction is None else (
        f"{case.name(exact.limb)} after {exact.fraction * case.length:.9g} m, face {exact.face.name}"
    )  # fmt: skip
    agree = "this library says the same" if story.live.proved else f"this library says limb {ours.limb}"
    console.print(f"Rational arithmetic: the segment hits {what}; {agree}.")
    for explanation in story.explanations:
        console.print(Text(str(explanation)))


def _engines(console: Console, story: Story) -> None:
    _step(console, 3, "What the engines say")
    case, shown = story.case, table(["engine", "version", "hits"], ["after", "error", "normal off"])
    shown.add_column()
    exact = story.live.exact
    after = "" if exact.fraction is None else f"{exact.fraction * case.length:.9g} m"
    shown.add_row("rational arithmetic", "", _name(case, exact.limb), after, "", "", "", style="bold")
    for place, witness in enumerate(story.witnesses):
        shown.add_row(*_witness(case, witness), style="yellow" if place == 0 else "")
    console.print(shown)
    missing = [name for name, why in story.absent.items() if MISSING in why]
    if missing:
        console.print(f"Not asked, since not installed: {', '.join(missing)} (pip install 'cylcollide\\[peers]').")
    for name, why in story.absent.items():
        if name not in missing:
            console.print(f"No answer from {name}: {escape(why)}.")


def _witness(case: Case, witness: Witness) -> tuple[str | Text, ...]:
    answer = witness.answer
    if answer is None:
        return witness.engine, witness.version, "no answer", "", "", "", Text("wrong", style="red")
    after = "" if answer.fraction is None else f"{answer.fraction * case.length:.9g} m"
    error = "" if witness.error is None else _signed(witness.error)
    off = "" if witness.normal_off is None else angle(witness.normal_off)
    right = "right limb" if answer.limb >= 0 else "right"
    said = Text(right, style="green") if witness.right else Text("wrong", style="red")
    return witness.engine, witness.version, _name(case, answer.limb), after, error, off, said


def _why(console: Console, story: Story) -> None:
    _step(console, 4, "Why")
    again = story.again
    if again is None:
        console.print("There is no such disagreement now, so that there is no cause to find.")
        return
    saved = story.case.cause
    console.print(f"[bold]{again.cause[:1].upper()}{again.cause[1:]}[/]. {escape(story.why or '')}")
    if story.measured:
        console.print(f"Measured on {words.engine_name(again)} with a limb of this size: {', '.join(story.measured)}.")
    if saved not in ("", again.cause):
        console.print(f"[yellow]The case was saved with another cause: {saved}.")
    for other in story.live.cases:
        if other.kind != again.kind:
            console.print(f"The same segment also: {escape(words.headline(other))} ({other.cause})")


def _interventions(console: Console, story: Story) -> None:
    _step(console, 5, "One thing changed at a time, and asked again")
    if story.case.engine != BULLET:
        console.print("None: only PyBullet has settings to change.")
        return
    if not story.trials:
        console.print("None applies: no change is predicted to do what could be seen.")
        return
    shown = table(["", "", ""], box=None, show_header=False, padding=(0, 2, 0, 0))
    for trial in story.trials:
        said = Text("it does", style="green") if trial.held else Text("it does NOT", style="red")
        shown.add_row(trial.change, f"predicted: it {trial.predicted}", said)
    console.print(shown)
    console.print("The cause is proved." if is_proved(story.trials) else "The cause is not proved by this.")


def _name(case: Case, limb: int) -> str:
    return case.name(limb) if limb >= 0 else "nothing"


def _signed(metres: float) -> str:
    return "none" if abs(metres) < NOTHING else f"{length(abs(metres))} {'late' if metres > 0 else 'early'}"


def _fraction(case: Case) -> str:
    return "no hit" if case.fraction_engine is None else f"{case.fraction_engine!r} of the way"


def _point(point: Sequence[float]) -> str:
    return f"({', '.join(f'{x:.9g}' for x in point)})"

"""`help` of every public object fits a screen: short lines, plain names of types, no internals."""

import inspect
import pydoc
import re
from functools import reduce
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

WIDTH, HEIGHT = 100, 50
INTERNALS = re.compile(
    r"numpy\._typing|<class|object at 0x|Unpack|functools|mappingproxy"
    r"|typing\.Generic|\b_[a-z]\w*|__\w+__($| = )"  # private names, and special ones except methods
)
OF_PYTHON = {
    "EnumType": re.compile(r"__members__$|__str__ = __repr__"),
    "_ShownProtocol": re.compile(r"typing\.Generic"),
}
MODULES = ("cylcollide", "cylcollide.bullet", "cylcollide.engines", "cylcollide.panda3d", "cylcollide.quaternions")


class PlainText(pydoc.TextDoc):
    def bold(self, text):
        return text


TEXT = PlainText()


PUBLIC = {
    f"{module.__name__}.{name}": getattr(module, name)
    for module in map(import_module, MODULES)
    for name in module.__all__
    if inspect.isclass(getattr(module, name)) or inspect.isfunction(getattr(module, name))
}


def methods_of(kind):
    return {f"{kind.__name__}.{name}": method for name, method in inspect.getmembers(kind) if not name.startswith("_")}


@pytest.mark.parametrize("thing", PUBLIC.values(), ids=PUBLIC.keys())
def test_help_has_short_lines_without_internals(thing):
    lines = TEXT.document(thing).splitlines()
    assert [line for line in lines if len(line) > WIDTH] == []
    expected = OF_PYTHON.get(type(thing).__name__, "$^")
    assert [line for line in lines if INTERNALS.search(line) and not re.search(expected, line)] == []


@pytest.mark.parametrize("kind", ["RayHits", "ClosestPoints", "Judged", "LoggedShots", "Snapshot", "Limbs", "Rig"])
def test_help_has_a_constructor_only_if_users_call_it(kind):
    text = TEXT.document(PUBLIC[f"cylcollide.{kind}"])
    called_by_users = kind in ("LoggedShots", "Rig")
    assert (f" |  {kind}(" in text, " |  __init__(" in text) == (called_by_users, called_by_users)


@pytest.mark.parametrize("thing", PUBLIC.values(), ids=PUBLIC.keys())
def test_help_of_a_function_is_one_screen(thing):
    documented = methods_of(thing) if inspect.isclass(thing) else {thing.__name__: thing}
    heights = {name: TEXT.document(one).count("\n") for name, one in documented.items() if not inspect.isclass(one)}
    assert {name: height for name, height in heights.items() if height > HEIGHT} == {}


@pytest.mark.parametrize("thing", PUBLIC.values(), ids=PUBLIC.keys())
def test_docstrings_list_parameters_that_exist(thing):
    """Text after them without a heading of its own would be listed as parameters."""
    documented = [thing, *methods_of(thing).values()] if inspect.isclass(thing) else [thing]
    for one in documented:
        _, _, section = (inspect.getdoc(one) or "").partition("Parameters\n----------\n")
        listed = [line for line in re.split(r"\n.+\n---", section)[0].splitlines() if line and line[0] != " "]
        names = {name for line in listed for name in line.split(", ")}
        assert not names or names <= set(inspect.signature(one).parameters), one


RAYS = {"inside": "hit", "mask": 2**32 - 1, "ignore_character": None, "threads": None, "radius": 0.0}
PAST = {"time": None, "tick": None, "alpha": None, "on_old": "error", "protected_since": None}


@pytest.mark.parametrize(
    ("kind", "method", "expected"),
    [
        ("HitWorld", "judge_segments", {"energy": 1.0, "shot": None} | RAYS),
        ("HitWorld", "cast_rays", {"max_distance": float("inf")} | RAYS),
        ("PoseHistory", "cast_rays", {"max_distance": float("inf")} | PAST | RAYS),
        ("PoseHistory", "closest_points", {"max_distance": float("inf")} | PAST | RAYS),
        ("Limbs", "boxes", {"character": -1, "mask": 2**32 - 1, "name": "", "hit_group": 0}),
    ],
)
def test_shared_options_have_their_defaults(kind, method, expected):
    parameters = inspect.signature(getattr(getattr(import_module("cylcollide"), kind), method)).parameters
    defaults = {name: one.default for name, one in parameters.items() if one.default is not one.empty}
    assert defaults == {name: expected[name] for name in defaults}
    assert len(defaults) > 3


# The page of the contract ------------------------------------------------------------------------------------------

OWNERS = {"world": "HitWorld", "history": "PoseHistory", "limbs": "Limbs", "rig": "Rig", "clip": "Clip"}
OWNERS |= {"clock": "ViewClock", "log": "ShotLog LoggedShots", "judged": "Judged"}
CALL = re.compile(rf"\b(cc|{'|'.join(OWNERS)})((?:\.\w+)+)\(([^()]*(?:\([^()]*\)[^()]*)*)\)")


def written_calls():
    """Return owner, name and arguments of each call in the contract's list of the public interface."""
    page = (Path(__file__).parents[2] / "docs" / "design.md").read_text()
    (block,) = re.findall(r"## 4\..*?```python\n(.*?)```", page, re.DOTALL)
    return CALL.findall(block)


@pytest.mark.parametrize(("owner", "path", "arguments"), written_calls())
def test_signatures_are_those_of_the_contract(owner, path, arguments):
    """Names, defaults, and which arguments are keyword-only or positional."""
    package, names = import_module("cylcollide"), path[1:].split(".")
    owners = [getattr(package, name) for name in OWNERS[owner].split()] if owner in OWNERS else [package]
    thing = reduce(getattr, names, next(one for one in owners if hasattr(one, names[0])))
    parameters = {name: one for name, one in inspect.signature(thing).parameters.items() if name != "self"}
    names, by_keyword = list(parameters), False
    for place, argument in enumerate(re.split(r",\s*(?![^(\[{]*[)\]}])", arguments) if arguments else []):
        name, has_default, default = argument.partition("=")
        if argument == "*":
            by_keyword = True
        elif has_default:
            one = parameters[name]
            try:
                value = eval(default, {"np": np, **vars(package.Shape)})
            except NameError:  # an argument of this call, no default
                continue
            assert one.default == value or value is ... or tuple(one.default) == value, argument
            assert (one.kind is one.KEYWORD_ONLY) == by_keyword, argument
        elif argument != "...":
            assert parameters[names[place]].kind is not inspect.Parameter.KEYWORD_ONLY, argument


def test_the_contract_lists_many_calls():
    assert len(written_calls()) > 50

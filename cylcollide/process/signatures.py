"""Signatures that `help` shows on short lines, with type names as written in the source."""

from __future__ import annotations

from abc import ABCMeta
from collections.abc import Callable, Iterable, Iterator
from functools import wraps
from inspect import Parameter, Signature, isclass, isfunction, signature
from types import MappingProxyType
from typing import Any, Final, ForwardRef, TypeVar

from cylcollide._types import ALL_LAYERS, NO_CHARACTER

WIDTH = 88
"""Characters per line, without the indentation that `help` adds to methods."""

DEFAULTS: Final[dict[str, Any]] = {
    **{"inside": "hit", "mask": ALL_LAYERS, "ignore_character": None, "threads": None, "radius": 0.0},
    **{"tick": None, "alpha": None, "on_old": "error", "protected_since": None},
    **{"character": NO_CHARACTER, "name": "", "hit_group": 0},
}
"""Default values of the options that many functions share by `**options: Unpack[...]` of a TypedDict."""

Thing = TypeVar("Thing")
Function = TypeVar("Function", bound=Callable[..., Any])


NO_CONSTRUCTOR = Signature()
"""`__signature__` of a class that only this package instantiates."""


class Shown(ABCMeta):
    """Metaclass whose classes hide internal attributes of Python and decorators from `dir`, and so from `help`."""

    def __dir__(cls) -> Iterable[str]:
        return [name for name in super().__dir__() if not _is_internal(cls, name)]


def _is_internal(kind: type, name: str) -> bool:
    """Whether a name is internal: a special name, such as `__annotations__`, that is no method of that name."""
    value = getattr(kind, name, None)
    if name == "__init__" and hasattr(kind, "__signature__"):
        return True
    return name[:2] == name[-2:] == "__" and not (callable(value) and getattr(value, "__name__", name) == name)


class ShortSignature(Signature):
    """A signature that is split over several lines if it is long; Python's own is split from 3.13 on."""

    def __str__(self) -> str:
        text = super().__str__()
        if len(text) <= WIDTH // 2:
            return text
        end = text.rindex(") -> ") if ") -> " in text else len(text) - 1
        lines = [""]
        for part in _parts(text[1:end]):
            if len(lines[-1]) + len(part) > WIDTH - 6:
                lines.append("")
            lines[-1] += f" {part}," if lines[-1] else f"{part},"
        return "(\n" + "".join(f"    {line}\n" for line in lines) + text[end:]


class _Written(str):
    """An annotation as written in the source; shown without quotes."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def short_signature(parameters: Iterable[Parameter], returned: Any) -> ShortSignature:
    """The signature of `parameters`, without private ones."""
    return ShortSignature(
        [
            one.replace(annotation=_as_written(one.annotation), default=_as_shown(one.default))
            for one in parameters
            if not one.name.startswith("_")
        ],
        return_annotation=_as_written(returned),
    )


def written_parameters(function: Callable[..., Any]) -> list[Parameter]:
    """The parameters of a function, with `**options: Unpack[...]` expanded into separate parameters."""
    given = list(signature(function).parameters.values())
    if given[-1].kind is Parameter.VAR_KEYWORD:
        options = eval(given.pop().annotation, function.__globals__).__args__[0]
        for name, hint in options.__annotations__.items():
            written = hint.__forward_arg__
            given.append(Parameter(name, Parameter.KEYWORD_ONLY, default=DEFAULTS[name], annotation=written))
    return given


def as_text(parameters: list[Parameter]) -> tuple[str, str]:
    """The text of parameters in a declaration, with `defaults` by name, and in a call that passes them on."""
    by_name = [one.name for one in parameters if one.kind is one.KEYWORD_ONLY]
    declared = [one.name if one.default is one.empty else f"{one.name}=defaults['{one.name}']" for one in parameters]
    if by_name:
        declared.insert(len(parameters) - len(by_name), "*")
    passed = [f"{one.name}={one.name}" if one.name in by_name else one.name for one in parameters]
    return ", ".join(declared), ", ".join(passed)


def with_options(function: Function) -> Function:
    """A wrapper of a function whose `**options: Unpack[...]` are expanded into separate parameters."""
    parameters = written_parameters(function)
    declared, passed = as_text(parameters)
    defaults = {one.name: one.default for one in parameters}
    text = f"lambda {declared}: function({passed})"
    made: Any = wraps(function)(eval(text, {"function": function, "defaults": defaults}))
    returned = signature(function).return_annotation
    made.__signature__ = short_signature(parameters, returned)
    made.__annotations__ = {one.name: one.annotation for one in parameters[1:]} | {"return": returned}
    return made  # type: ignore[no-any-return]


def shown_short(thing: Thing) -> Thing:
    """The given function or class, after setting short signatures on it or on its methods from this package."""
    for function in _functions(thing):
        known: Any = signature(function)
        if not isinstance(known, ShortSignature):
            function.__signature__ = short_signature(known.parameters.values(), known.return_annotation)
    return thing


def _functions(thing: Any) -> Iterator[Any]:
    """The function itself, or the public methods and the constructors of a class."""
    if isfunction(thing):
        yield thing
    for kind in thing.__mro__ if isclass(thing) else ():
        if kind.__module__.startswith("cylcollide"):
            for name, method in vars(kind).items():
                function = getattr(method, "__func__", method)
                if isfunction(function) and (name in ("__init__", "__new__") or not name.startswith("_")):
                    yield function


def _as_written(annotation: Any) -> Any:
    """The annotation; text is wrapped so that it is shown without quotes."""
    written = annotation.__forward_arg__ if isinstance(annotation, ForwardRef) else annotation
    return _Written(written) if isinstance(written, str) else written


def _as_shown(default: Any) -> Any:
    """The default; a read-only mapping as a dict, so that it is shown as `{}`."""
    return dict(default) if isinstance(default, MappingProxyType) else default


def _parts(text: str) -> Iterator[str]:
    """The parameters in a signature's text, split at commas outside of brackets."""
    depth, begin = 0, 0
    for place, letter in enumerate(text):
        depth += (letter in "([{") - (letter in ")]}")
        if letter == "," and depth == 0:
            yield text[begin:place].strip()
            begin = place + 1
    yield text[begin:].strip()

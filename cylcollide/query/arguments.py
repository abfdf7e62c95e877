"""Methods that take the arguments of a function which makes their request: one signature for all queries of a kind."""

from collections.abc import Callable
from functools import wraps
from inspect import Parameter, signature
from typing import Any, Concatenate, ParamSpec, TypeVar

from cylcollide.process.signatures import short_signature

P = ParamSpec("P")
Answer = TypeVar("Answer")
Owner = TypeVar("Owner")
Request = TypeVar("Request")


def arguments_of(
    make: Callable[P, Request], before: str = ""
) -> Callable[[Callable[[Owner, Request], Answer]], Callable[Concatenate[Owner, P], Answer]]:
    """Decorate a method of a request, so that it takes the arguments of `make` instead.

    Signature and annotations name these arguments. `before` names a method that is called first, and returns its
    object. The method is compiled from text, as those of dataclasses are: to pass on `*args` and `**kwargs` would add
    7 % to a query of one ray.
    """
    taken = signature(make)
    given = taken.parameters.values()
    defaults = {one.name: one.default for one in given if one.default is not one.empty}
    names = [one.name for one in given]
    declared = [f"{name}=defaults['{name}']" if name in defaults else name for name in names]
    by_name = [one.name for one in given if one.kind is one.KEYWORD_ONLY]
    if by_name:
        declared.insert(names.index(by_name[0]), "*")
    passed = [f"{name}={name}" if name in by_name else name for name in names]
    owner = f"self.{before}()" if before else "self"
    text = f"lambda self, {', '.join(declared)}: answer({owner}, make({', '.join(passed)}))"

    def decorate(answer: Callable[[Owner, Request], Answer]) -> Callable[Concatenate[Owner, P], Answer]:
        method: Any = wraps(answer)(eval(text, {"answer": answer, "make": make, "defaults": defaults}))
        returned = signature(answer).return_annotation
        first = Parameter("self", Parameter.POSITIONAL_OR_KEYWORD)
        method.__signature__ = short_signature([first, *given], returned)
        method.__annotations__ = {**make.__annotations__, "return": returned}
        return method  # type: ignore[no-any-return]

    return decorate

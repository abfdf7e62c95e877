"""Arguments from a grammar of awkward arrays: the answer of the plain array, or a message; never anything else.

Functions are found by reflection: a test fails if one that takes arrays is not called here.
"""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.awkward_calls import array_arguments, arrays_of, calls, world
from support.awkward_forms import SAME, WRONG, Plain
from support.check_cylinders import sized

pytestmark = pytest.mark.attack

OF_INTEGERS = {
    *("as it is", "Fortran", "reversed", "subclass", "masked nowhere", "list", "tuple", "list of arrays", "objects"),
    *("frame", "array interface", "memoryview", "integers", "small integers"),
}
"""Forms that keep integers."""


def test_every_argument_of_every_public_function_is_attacked():
    attacked: dict[str, set[str]] = {}
    for call in calls().values():
        attacked.setdefault(call.function, set()).update(call.arguments)
    assert attacked == array_arguments()
    assert sum(map(len, attacked.values())) > 200


def form_of(name: str, array: Plain) -> Any:
    """One argument in a form; integers stay integers in every form that keeps the numbers."""
    if array.dtype.kind == "i" and name in SAME:
        return SAME[name](array) if name in OF_INTEGERS else array
    return (WRONG | SAME)[name](array.astype(float))


forms = st.sampled_from(sorted(SAME)) | st.sampled_from(sorted(WRONG))
asked = st.sampled_from(sorted(calls())).flatmap(
    lambda name: st.tuples(st.just(name), st.fixed_dictionaries(dict.fromkeys(calls()[name].arguments, forms)))
)


def check(name: str, chosen: dict[str, str]) -> None:
    """The answer equals that of plain arrays if all forms keep the numbers; else it may be an error with a message."""
    call = calls()[name]
    arguments = {key: form_of(chosen[key], array) for key, array in call.arguments.items()}
    wrong, before = set(chosen.values()) & set(WRONG), world().snapshot()
    try:
        answer, refused = call.call(**arguments), None
    except (ValueError, TypeError) as error:
        refused = error
    except MemoryError:  # only for functions that take arrays of any length
        assert "endless" in wrong, (name, chosen)
        assert call.function.startswith("quaternions"), (name, chosen)
        return
    if refused is not None:
        assert wrong, (name, chosen, refused)
        assert type(refused) is ValueError, (name, chosen, refused)
        assert ": expected " in str(refused), (name, chosen, refused)
    elif not wrong:
        for got, want in zip(arrays_of(answer), call.answer, strict=True):
            assert got.dtype == want.dtype
            assert np.array_equal(got, want, equal_nan=got.dtype.kind == "f"), (name, chosen)
    assert world().snapshot() is before


def test_answers_do_not_change_with_the_arguments():
    """All arguments are overwritten after the call, and only then are the fields of the answer read."""
    for name, call in calls().items():
        own = {key: array.copy() for key, array in call.arguments.items()}
        answer = call.call(**own)
        for array in own.values():
            array += 1
        for got, want in zip(arrays_of(answer), call.answer, strict=True):
            assert np.array_equal(got, want, equal_nan=got.dtype.kind == "f"), name


@pytest.mark.parametrize("every", [40, pytest.param(1, marks=pytest.mark.long)])
@pytest.mark.parametrize("form", [*SAME, *WRONG])
def test_every_form_in_every_place(form: str, every: int):
    """In every place, or in one of `every`."""
    skipped = sorted(WRONG | SAME).index(form)
    for name, call in calls().items():
        for place in call.arguments:
            skipped += 1
            if skipped % every == 0:
                check(name, {key: form if key == place else "as it is" for key in call.arguments})


@settings(max_examples=sized(60))
@given(asked)
def test_forms_together(one: tuple[str, dict[str, str]]):
    check(*one)


@pytest.mark.long
@pytest.mark.timeout(3600)
@settings(max_examples=50_000)
@given(asked)
def test_forms_together_for_long(one: tuple[str, dict[str, str]]):
    check(*one)

"""Test functions as machine code: numba compiles and runs them, with all marked functions that they call.

The build's own compiler only writes files; tests call its loops directly. Without numba a test is skipped when it calls
such a function.
"""

import sys
from functools import cache

import numpy as np
import pytest
from support.check_cylinders import IS_COMPILED
from support.package import make_build_importable

from cylcollide.runtime.compile import LOOPS, MARKED


class MachineCode:
    """A function compiled at the first call with each combination of argument types; `plain` is interpreted."""

    def __init__(self, function):
        self.function, self.plain = function, np.errstate(all="ignore")(function)

    def __call__(self, *arguments):
        return jitted(self.function)(*arguments)


@cache
def jitted(function):
    """The function compiled by numba; all marked functions are compiled with the same options."""
    numba = pytest.importorskip("numba")
    make_build_importable()
    from native.frontend import OPTIONS, register_marked

    options = {name: value for name, value in OPTIONS.items() if not name.startswith("no_")}
    register_marked(options)
    return numba.njit(**options, forceinline=MARKED.get(function) == "alwaysinline")(function)


def as_machine_code(function):
    """The function compiled with the options of the build; plain Python if no machine code is in use."""
    return MachineCode(function) if IS_COMPILED else np.errstate(all="ignore")(function)


def interpreted(function):
    """The function or loop as plain Python."""
    loop = next((loop.function for loop in LOOPS.values() if loop.call is function), None)
    return getattr(function, "plain", function) if loop is None else np.errstate(all="ignore")(loop)


def replace_loop(patch, loop, replacement):
    """Replace a loop in all modules of package and build that call it; asserts that there is one."""
    places = places_of(loop, len(sys.modules))
    assert places
    for module, name in places:
        patch.setattr(module, name, replacement)


@cache
def places_of(loop, modules):
    """Modules and names in package and build that refer to this loop; `modules` invalidates the cache after imports."""
    del modules
    return [
        (module, name)
        for of_module, module in list(sys.modules.items())
        if of_module.startswith(("cylcollide.", "native.")) and ".machine_code." not in of_module
        for name, value in list(vars(module).items())
        if value is loop
    ]

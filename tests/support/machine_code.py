"""Functions of tests as machine code: numba compiles them, with all marked functions that they call, and runs them.

The build's own compiler only writes files; the loops that it made are tested by calling them. A test that needs numba
where it is not installed is skipped when it calls such a function.
"""

import sys
from functools import cache

import numpy as np
import pytest
from support.check_cylinders import IS_COMPILED
from support.package import put_build_in_reach

from cylcollide.runtime.compile import LOOPS, MARKED


class MachineCode:
    """A function with machine code for each kind of arguments, made at the first call; `plain` is the function."""

    def __init__(self, function):
        self.function, self.plain = function, np.errstate(all="ignore")(function)

    def __call__(self, *arguments):
        return jitted(self.function)(*arguments)


@cache
def jitted(function):
    """A function as numba's, which compiles all marked functions with these options, too."""
    numba = pytest.importorskip("numba")
    put_build_in_reach()
    from native.frontend import OPTIONS, register_marked

    options = {name: value for name, value in OPTIONS.items() if not name.startswith("no_")}
    register_marked(options)
    return numba.njit(**options, forceinline=MARKED.get(function) == "alwaysinline")(function)


def as_machine_code(function):
    """Compile with the options of the build, for a test; plain Python where that is all there is."""
    return MachineCode(function) if IS_COMPILED else np.errstate(all="ignore")(function)


def interpreted(function):
    """The same function, or loop, as plain Python."""
    loop = next((loop.function for loop in LOOPS.values() if loop.call is function), None)
    return getattr(function, "plain", function) if loop is None else np.errstate(all="ignore")(loop)


def replace_loop(patch, loop, replacement):
    """Put another function in place of a loop, in all modules of package and build that call it; there must be one."""
    places = places_of(loop, len(sys.modules))
    assert places
    for module, name in places:
        patch.setattr(module, name, replacement)


@cache
def places_of(loop, modules):
    """Modules of package and build, and names in them, that are this loop, while so many modules are loaded."""
    del modules
    return [
        (module, name)
        for of_module, module in list(sys.modules.items())
        if of_module.startswith(("cylcollide.", "native.")) and ".machine_code." not in of_module
        for name, value in list(vars(module).items())
        if value is loop
    ]

"""Functions of tests as machine code, made as the package makes it."""

import numpy as np
from support.check_cylinders import JIT


class MachineCode:
    """A function with machine code for each kind of arguments, made at the first call; `plain` is the function."""

    def __init__(self, function):
        self.plain, self.made = np.errstate(all="ignore")(function), {}

    def __call__(self, *arguments):
        from cylcollide.runtime import machine_code

        tag = machine_code.tag(arguments)
        if tag not in self.made:
            lowered = machine_code.lower(self.plain.__wrapped__, True, False, arguments)
            self.made[tag] = machine_code.load(machine_code.optimiser().machine_code(lowered))
        return self.made[tag](*arguments)


def as_machine_code(function):
    """Compile with the options of the package, for a test; plain Python where that is all there is."""
    return MachineCode(function) if JIT else np.errstate(all="ignore")(function)


def interpreted(function):
    """The same function as plain Python."""
    return getattr(function, "plain", function)

"""The command ``cylcollide warm-up``."""

from typing import Annotated

import typer
from rich.console import Console

from cylcollide.terminal import bars, stop
from cylcollide.warm_up.warm_up import warm_up as make_machine_code


def warm_up(
    jobs: Annotated[
        int | None, typer.Option(min=1, max=1024, help="Processes that compile at once. Default: one a processor.")
    ] = None,
) -> None:
    """Compile all loops ahead, and say where they are kept; nothing is compiled that is there already.

    Set NUMBA_CACHE_DIR to keep them in a directory of your own, as in a container's image.
    """
    console = Console()
    with bars(console, {"compile": "compiling"}, transient=True) as progress:
        try:
            done = make_machine_code(jobs, lambda count, of: progress("compile", count, of))
        except RuntimeError as error:
            stop(str(error))
    console.print(str(done), soft_wrap=True, highlight=False)

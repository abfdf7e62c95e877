"""The command line ``cylcollide``: commands are added here, each lives with the work it starts.

Nothing beyond the core is imported before :func:`main` runs, so that a missing extra is one line, not a traceback.
"""

import sys

EXTRA_PACKAGES = ("typer", "click", "rich", "pybullet", "pybullet_data", "jinja2", "plotly")
"""What the extra ``crosscheck`` brings; a missing one is named with the remedy."""


def main() -> None:
    """Run the command line and exit with its status: 0 for success, 1 for a finding, 2 for bad usage."""
    try:
        import typer  # noqa: PLC0415  # belongs to an extra: imported only when the command line is used

        from cylcollide.crosscheck.command import crosscheck, start  # noqa: PLC0415
    except ImportError as missing:
        sys.exit(_missing_extra(missing))
    app = typer.Typer(name="cylcollide", no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)
    app.callback()(start)
    app.command()(crosscheck)
    app(prog_name="cylcollide")


def _missing_extra(missing: ImportError) -> str:
    cause = missing.__cause__ if isinstance(missing.__cause__, ImportError) else missing
    package = (cause.name or "").partition(".")[0]
    if package not in EXTRA_PACKAGES:
        raise missing
    return f"cylcollide: the command line needs {package}, which is missing: pip install 'cylcollide[crosscheck]'"

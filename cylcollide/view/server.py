"""viser's server, pieces of its panel, and the only import of viser and its websockets: one error for their absence."""

import io
import operator
import os
import socket
from collections.abc import Mapping
from contextlib import redirect_stdout
from html import escape

from cylcollide._version import not_installed
from cylcollide.limbs.figures import PORT
from cylcollide.limbs.outlines import group_colors
from cylcollide.validate import is_integer, shown

try:
    import viser
    from websockets.sync.client import connect
except ImportError as missing:
    raise not_installed("viser", "view", missing) from missing

HOST = "127.0.0.1"
LOWEST_PORT, HIGHEST_PORT = 1024, 65535
AMBIENT = 1.1
"""Ambient light. An environment map and shadows would take most of a software renderer's time."""


def serve(title: str, port: int = PORT) -> viser.ViserServer:
    """A server without any scene that listens only on this machine, at a port or the next one that is free.

    ValueError for an invalid port, and if none is free: viser would wait for ever.
    """
    if not is_integer(port) or not LOWEST_PORT <= operator.index(port) <= HIGHEST_PORT:
        allowed = f"an integer from {LOWEST_PORT} to {HIGHEST_PORT}"
        raise ValueError(f"port: expected {allowed}, got {shown(port)}; the usual one is {PORT}")
    if not any(map(_is_free, range(operator.index(port), HIGHEST_PORT + 1))):
        raise ValueError(f"port: expected a free one from {shown(port)} on, got none; the usual one is {PORT}")
    with redirect_stdout(io.StringIO()):  # it prints a greeting even with verbose=False
        server = viser.ViserServer(host=HOST, port=operator.index(port), label=title, verbose=False)
    try:
        server.gui.configure_theme(show_logo=False, show_share_button=False, control_width="large")
        server.gui.set_panel_label(title)
        server.scene.configure_environment_map(None)
        server.scene.configure_default_lights(False)
        server.scene.add_light_ambient("/light", intensity=AMBIENT)
    except BaseException:
        stop(server)
        raise
    return server


def _is_free(port: int) -> bool:
    """Whether a server can listen at a port."""
    with socket.socket() as trial:
        if os.name == "posix":  # as in asyncio: a port whose last connection has just ended is free
            trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            trial.bind((HOST, port))
            trial.listen()
        except OSError:
            return False
    return True


def url_of(server: viser.ViserServer) -> str:
    """The address of a server's page."""
    return f"http://{server.get_host()}:{server.get_port()}"


def stop(server: viser.ViserServer) -> None:
    """Stop a server, silently."""
    with redirect_stdout(io.StringIO()):
        server.stop()


# HTML of the panel ---------------------------------------------------------------------------------------------------

STYLE = "white-space:pre-wrap;font-size:12px;line-height:1.35;margin:0 12px 8px;overflow-wrap:anywhere"
SQUARE = "display:inline-block;width:10px;height:10px;margin:0 4px 0 10px;background:"


def preformatted(words: str, is_html: bool = False) -> str:
    """Words with their line breaks."""
    return f'<pre style="{STYLE}">{words if is_html else escape(words)}</pre>'


def legend(groups: Mapping[str, int]) -> str:
    """Names of hit groups with their colours."""
    colors = group_colors(groups)
    words = "".join(f'<span style="{SQUARE}{colors[n]}"></span>{escape(name)}' for name, n in groups.items())
    return f'<div style="font-size:12px;margin:4px">{words}</div>'


__all__ = ["HOST", "PORT", "STYLE", "connect", "legend", "preformatted", "serve", "stop", "url_of", "viser"]

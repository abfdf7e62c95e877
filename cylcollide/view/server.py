"""The only import of viser and of its websockets: their absence always raises the same error; and its server."""

import io
import operator
import os
import socket
from contextlib import redirect_stdout

from cylcollide._version import not_installed
from cylcollide.limbs.browser import PORT
from cylcollide.validate import is_integer, shown

try:
    import viser
    from websockets.sync.client import connect
except ImportError as missing:
    raise not_installed("viser", "view", missing) from missing

HOST = "127.0.0.1"
LOWEST_PORT, HIGHEST_PORT = 1024, 65535
AMBIENT = 1.1
"""Light from all sides. A map of surroundings and shadows take most of the time where software draws."""


def serve(title: str, port: int = PORT) -> viser.ViserServer:
    """A server without any scene that listens on this machine alone, at a port or the next one that is free.

    ValueError for what is no port, and if none is free: viser would wait for ever.
    """
    if not is_integer(port) or not LOWEST_PORT <= operator.index(port) <= HIGHEST_PORT:
        allowed = f"an integer from {LOWEST_PORT} to {HIGHEST_PORT}"
        raise ValueError(f"port: expected {allowed}, got {shown(port)}; the usual one is {PORT}")
    if not any(map(_is_free, range(operator.index(port), HIGHEST_PORT + 1))):
        raise ValueError(f"port: expected a free one from {shown(port)} on, got none; the usual one is {PORT}")
    with redirect_stdout(io.StringIO()):  # it greets even if it is told not to
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
        if os.name == "posix":  # as asyncio: a port whose last connection has just ended is free
            trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            trial.bind((HOST, port))
            trial.listen()
        except OSError:
            return False
    return True


def url_of(server: viser.ViserServer) -> str:
    """Where a server is shown."""
    return f"http://{server.get_host()}:{server.get_port()}"


def stop(server: viser.ViserServer) -> None:
    """Stop a server, silently."""
    with redirect_stdout(io.StringIO()):
        server.stop()


__all__ = ["HOST", "PORT", "connect", "serve", "stop", "url_of", "viser"]

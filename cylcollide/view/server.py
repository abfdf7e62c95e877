"""The only import of viser and of its websockets: their absence always raises the same error; and its server."""

import io
from contextlib import redirect_stdout

from cylcollide._version import not_installed
from cylcollide.limbs.browser import PORT

try:
    import viser
    from websockets.sync.client import connect
except ImportError as missing:
    raise not_installed("viser", "view", missing) from missing

HOST = "127.0.0.1"
AMBIENT = 1.1
"""Light from all sides. A map of surroundings and shadows take most of the time where software draws."""


def serve(title: str, port: int = PORT) -> viser.ViserServer:
    """A server without any scene that listens on this machine alone, at a port or the next one that is free."""
    with redirect_stdout(io.StringIO()):  # it greets even if it is told not to
        server = viser.ViserServer(host=HOST, port=port, label=title, verbose=False)
    server.gui.configure_theme(show_logo=False, show_share_button=False, control_width="large")
    server.gui.set_panel_label(title)
    server.scene.configure_environment_map(None)
    server.scene.configure_default_lights(False)
    server.scene.add_light_ambient("/light", intensity=AMBIENT)
    return server


def url_of(server: viser.ViserServer) -> str:
    """Where a server is shown."""
    return f"http://{server.get_host()}:{server.get_port()}"


def stop(server: viser.ViserServer) -> None:
    """Stop a server, silently."""
    with redirect_stdout(io.StringIO()):
        server.stop()


__all__ = ["HOST", "PORT", "connect", "serve", "stop", "url_of", "viser"]

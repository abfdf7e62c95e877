"""The only import of viser, so that its absence always raises the same error; and its server."""

import io
from contextlib import redirect_stdout

from cylcollide.limbs.browser import PORT

try:
    import viser
except ImportError as missing:
    raise ImportError(
        f"viser is needed here and could not be imported ({missing}); install it with: pip install 'cylcollide[view]'",
        name="viser",
    ) from missing

HOST = "127.0.0.1"
DIM = 0.35
"""Of the light from all sides: with all of it, colours of hit groups are pale."""


def serve(title: str, port: int = PORT) -> viser.ViserServer:
    """A server without any scene that listens on this machine alone, at a port or the next one that is free."""
    with redirect_stdout(io.StringIO()):  # it greets even if it is told not to
        server = viser.ViserServer(host=HOST, port=port, label=title, verbose=False)
    server.gui.configure_theme(show_logo=False, show_share_button=False, control_width="large")
    server.gui.set_panel_label(title)
    server.scene.configure_environment_map("warehouse", environment_intensity=DIM)
    return server


def stop(server: viser.ViserServer) -> None:
    """Stop a server, silently."""
    with redirect_stdout(io.StringIO()):
        server.stop()


__all__ = ["HOST", "PORT", "serve", "stop", "viser"]

"""The name of the limb under the pointer. viser reports only clicks, so the page queries a small server of its own."""

from collections.abc import Callable, Mapping
from html import escape
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import numpy as np

from cylcollide._types import Float64Array
from cylcollide.limbs.limbs import Limbs
from cylcollide.view.server import HOST, viser
from cylcollide.world.hit_world import HitWorld

POLL = 0.05
"""Seconds between two checks of the server whether it has to end."""
SCRIPT = """
if (!window.pointed) {
  window.pointed = true;
  const tip = document.createElement("div");
  tip.id = "pointed";
  tip.hidden = true;
  tip.style = "position:fixed;z-index:99;pointer-events:none;background:#fffe;padding:2px 6px;font:12px monospace";
  document.body.append(tip);
  let last = null, busy = false;
  const update = async () => {
    busy = true;
    while (last) {
      const {target, clientX, clientY} = last, box = target.getBoundingClientRect();
      last = null;
      const x = (clientX - box.x) / box.width, y = (clientY - box.y) / box.height;
      tip.textContent = await fetch(`URL/${x}/${y}`).then(answer => answer.text());
      tip.hidden = !tip.textContent;
      tip.style.left = `${Math.max(0, Math.min(clientX + 12, innerWidth - tip.offsetWidth))}px`;
      tip.style.top = `${clientY + 16}px`;
    }
    busy = false;
  };
  const move = event => {
    tip.hidden = true;
    last = event.target.tagName === "CANVAS" && !event.buttons ? event : null;
    if (last && !busy) update().catch(() => window.removeEventListener("pointermove", move));
  };
  window.addEventListener("pointermove", move);
}
"""


class PointerNames:
    """Answers requests of pages of viser's server for the limb under the pointer.

    `name_at`: returns the words to show beside the pointer, from the origin and the direction of a ray.
    """

    def __init__(self, server: Any, name_at: Callable[[Float64Array, Float64Array], str]) -> None:
        self._server, self._name_at = server, name_at
        names, pages = self, [f"http://{host}:{server.get_port()}" for host in (HOST, "localhost")]

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                words = names._answer(self.path).encode()
                self.send_response(200)
                self.send_header("Access-Control-Allow-Origin", pages[self.headers["Origin"] == pages[1]])
                self.send_header("Content-Type", "text/plain; charset=utf-8")
                self.send_header("Content-Length", str(len(words)))
                self.end_headers()
                self.wfile.write(words)

            def log_message(self, *_: Any) -> None:
                pass

        self._answers = ThreadingHTTPServer((HOST, 0), Handler)
        Thread(target=self._answers.serve_forever, args=(POLL,), daemon=True).start()

    def close(self) -> None:
        """Stop the server."""
        self._answers.shutdown()
        self._answers.server_close()

    def install(self, client: Any) -> None:
        """Add the script that sends requests to the page of a client."""
        url = f"http://{HOST}:{self._answers.server_port}/{client.client_id}"
        client.gui.add_html(f'<img hidden src="data:," onerror="{escape(SCRIPT.replace("URL", url))}">')

    def _answer(self, path: str) -> str:
        """The words for "/client/x/y"; x and y from 0 to 1, from the left and from above."""
        try:
            client, x, y = path.strip("/").split("/")
            camera = self._server.get_clients()[int(client)].camera
            return self._name_at(camera.position, direction_of(camera, float(x), float(y)))
        except (ValueError, KeyError):
            return ""


def direction_of(camera: Any, x: float, y: float) -> Float64Array:
    """The direction (3,) of a camera's ray through a place of its picture; x and y from 0 to 1, as in the requests."""
    half = np.tan(0.5 * camera.fov)
    way = np.array([(2.0 * x - 1.0) * half * camera.aspect, (2.0 * y - 1.0) * half, 1.0])
    return np.asarray(viser.transforms.SO3(camera.wxyz) @ way)


def named_at(limbs: Limbs, groups: Mapping[str, int], origin: Float64Array, direction: Float64Array) -> str:
    """The first limb that a ray hits, in words; "" for none. `groups`: numbers of hit groups by name."""
    hits = HitWorld(limbs).cast_rays([origin], [direction])
    if not hits.hit[0]:
        return ""
    row = int(hits.limb[0])
    names, group = {number: name for name, number in groups.items()}, int(limbs.hit_group[row])
    owner = "" if limbs.character[row] < 0 else f", character {int(limbs.character[row])}"
    kind = repr(limbs[row]).partition("1 ")[2].rstrip(")")
    return f"{limbs.names[row] or f'limb {row}'}{owner}: {kind}, row {row}, hit group {names.get(group, group)}"

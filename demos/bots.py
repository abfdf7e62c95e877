"""The network of `demos/match.py`, and its clients: bots that walk about and shoot at bots that they draw.

Messages have a random delay both ways, and some are lost. Bot 0 cheats: it claims an earlier time of view than it
had.
"""

import asyncio
import socket
import subprocess
import sys
import time
from contextlib import suppress

import numpy as np

BOTS, RATE, FIELD, WEAPONS = 64, 60, 20.0, 3  # ticks a second; metres from the middle to the border
BUFFER, CHEAT = 0.1, 0.3  # seconds: how far behind the newest state bots draw; how much earlier the cheat claims
SILENCE = 10.0  # seconds
DELAY, JITTER, LOSS = 0.03, 0.02, 0.05  # seconds each way; largest random extra; share of lost messages
TO_SERVER = np.dtype([("tick", "i4"), ("heading", "f4"), ("weapon", "i4"), ("view", "f8"), ("aim", "f4", 3)])
TO_BOT = np.dtype([("tick", "i4"), ("you", "i4"), ("bots", "f4", (BOTS, 3))])  # of each bot: x, y and health


class Network:
    """The server's socket, and a process with all bots."""

    def __init__(self) -> None:
        self.bots: dict[tuple[str, int], int] = {}  # numbers by address
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind(("127.0.0.1", 0))
        self.socket.setblocking(False)
        self.process = subprocess.Popen([sys.executable, __file__, str(self.socket.getsockname()[1])])
        while len(self.bots) < BOTS and self.process.poll() is None:
            self.read()
            time.sleep(0.01)

    def __enter__(self) -> "Network":
        return self

    def __exit__(self, *error: object) -> None:
        self.process.kill()
        self.process.wait()
        self.socket.close()

    def read(self) -> tuple[np.ndarray, np.ndarray]:
        """All messages received: numbers of their bots, and rows of `TO_SERVER`."""
        who, messages = [], []
        with suppress(BlockingIOError):  # nothing is left
            while True:
                message, address = self.socket.recvfrom(TO_SERVER.itemsize + 1)
                if len(message) == TO_SERVER.itemsize and (address in self.bots or len(self.bots) < BOTS):
                    who.append(self.bots.setdefault(address, len(self.bots)))
                    messages.append(message)
        return np.array(who, int), np.frombuffer(b"".join(messages), TO_SERVER)

    def send(self, messages: dict[int, bytes]) -> None:
        """Send each bot a message."""
        addresses = list(self.bots)
        for bot, message in messages.items():
            with suppress(BlockingIOError, ConnectionError):  # the message is lost, as others are
                self.socket.sendto(message, addresses[bot])


class Bot(asyncio.DatagramProtocol):
    """One client, on a socket of its own."""

    def __init__(self, number: int) -> None:
        self.rng, self.states, self.heading = np.random.default_rng(number), {}, 6.3 * number / BOTS
        self.heard = time.monotonic()

    def connection_made(self, transport) -> None:
        """Its socket is open."""
        self.transport = transport

    def datagram_received(self, data: bytes, _) -> None:
        """Take a message; its simulated delay begins here."""
        self.heard = time.monotonic()
        self.late(self.receive, data)

    def late(self, what, *arguments) -> None:
        """Call a function after the delay of a message, unless the message is lost."""
        if self.rng.random() >= LOSS:
            asyncio.get_running_loop().call_later(DELAY + JITTER * self.rng.random(), what, *arguments)

    def receive(self, data: bytes) -> None:
        """Keep a state; shorter messages are events, for the screen of a person."""
        if len(data) == TO_BOT.itemsize:
            state = np.frombuffer(data, TO_BOT)[0]
            self.you, self.states[int(state["tick"])] = int(state["you"]), state["bots"]

    def act(self) -> None:
        """Send the server the newest received state, the heading, and a shot, if any."""
        message = np.zeros((), TO_SERVER)
        message["tick"], message["weapon"] = max(self.states, default=-1), -1
        view = message["tick"] / RATE - BUFFER
        if view >= 0.0:
            self.states = {tick: state for tick, state in self.states.items() if tick >= view * RATE - 5}
            place = self.states[max(self.states)][self.you, :2]
            self.heading += 0.1 * self.rng.normal() + 0.3 * (np.abs(place).max() > FIELD)
            if self.rng.random() < 1 / 6:
                self.fire(message, view, place)
        message["heading"] = self.heading
        self.late(self.transport.sendto, message.tobytes())

    def fire(self, message: np.ndarray, view: float, place: np.ndarray) -> None:
        """Aim at one of the five nearest bots, where it is drawn."""
        ticks = sorted(self.states)
        apart = np.linalg.norm(self.states[ticks[-1]][:, :2] - place, axis=1)
        target = self.rng.choice(np.argsort(apart)[1:6])
        ways = np.array([self.states[tick][target, :2] for tick in ticks])
        drawn = [np.interp(view * RATE, ticks, column) for column in ways.T]
        message["aim"] = *drawn, self.rng.uniform(0.6, 1.7)
        message["weapon"], message["view"] = self.rng.integers(WEAPONS), view - CHEAT * (self.you == 0)


async def play(port: int) -> None:
    """Play with all bots, until the server ends this process or is silent."""
    loop = asyncio.get_running_loop()
    bots = [
        (await loop.create_datagram_endpoint(lambda k=k: Bot(k), remote_addr=("127.0.0.1", port)))[1]
        for k in range(BOTS)
    ]
    while time.monotonic() - max(bot.heard for bot in bots) < SILENCE:
        for bot in bots:
            bot.act()
        await asyncio.sleep(1 / RATE)


if __name__ == "__main__":
    asyncio.run(play(int(sys.argv[1])))

"""Machine code of a mirror's loops is made ahead, without PyBullet."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import support.pybullet_scenes as scenes
from support.check_cylinders import JIT
from support.mirror_queries import call_every_query
from support.processes import ABOVE, environment

from cylcollide.runtime import code_cache, machine_code
from cylcollide.runtime.compile import ENTRY_POINTS
from cylcollide.warm_up.warm_up import requests_of_every_query

pytestmark = pytest.mark.skipif(not JIT, reason="about machine code")

LIFE = """
import sys
class Absent:
    def find_spec(self, name, path=None, target=None):
        if name == "pybullet" and not opened:
            raise ModuleNotFoundError(name)
opened = []
sys.meta_path.insert(0, Absent())
import cylcollide as cc
cc.warm_up()
opened.append(True)
import json
import support.pybullet_scenes as scenes
from support.mirror_queries import call_every_query
from cylcollide.runtime.compile import ENTRY_POINTS
plain = set()
for entry in ENTRY_POINTS.values():
    if not entry.has_machine_code:
        entry.call = lambda *given, entry=entry: plain.add(entry.name) or entry.plain(*given)
with scenes.client() as c:
    call_every_query(c)
print(json.dumps({"plain": sorted(plain), "loops": len(ENTRY_POINTS)}))
"""


def test_all_loops_of_this_room_are_made_ahead():
    requested = {request.name for request in requests_of_every_query(code_cache.writable_directory())}
    own = {name for name in ENTRY_POINTS if name.startswith("bullet.")}
    assert len(own) >= 5
    assert own <= requested


def test_a_life_needs_no_machine_code_but_that(monkeypatch):
    """Neither another loop nor one for arguments of other types."""
    made = {r.name: machine_code.tag(r.arguments) for r in requests_of_every_query(code_cache.writable_directory())}
    tags = {}
    for name, entry in ENTRY_POINTS.items():

        def called(*arguments, name=name, call=entry.call):
            tags.setdefault(name, set()).add(machine_code.tag(arguments))
            return call(*arguments)

        monkeypatch.setattr(entry, "call", called)
    with scenes.client() as c:
        call_every_query(c)
    assert len(tags) > 20
    assert {name: found for name, found in tags.items() if found != {made.get(name)}} == {}


@pytest.mark.long
def test_a_process_without_pybullet_makes_it():
    path, kept = os.pathsep.join([str(ABOVE), str(Path(__file__).parents[1])]), code_cache.writable_directory().parent
    variables = {"PYTHONPATH": path, "NUMBA_CACHE_DIR": str(kept), "CYLCOLLIDE_COMPILE": "background"}
    done = subprocess.run(
        [sys.executable, "-c", LIFE],
        env=environment(**variables), capture_output=True, text=True, check=False, timeout=600,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["plain"] == []
    assert found["loops"] > 20

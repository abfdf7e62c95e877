"""The command ``cylcollide range``: people in motion to shoot at, in the browser."""

import webbrowser
from pathlib import Path
from typing import Annotated

import typer

from cylcollide.characters.policy import Policy
from cylcollide.characters.rig import Rig
from cylcollide.limbs.browser import PORT
from cylcollide.terminal import errors_in_one_line, until_interrupted
from cylcollide.view.firing import POLICY, WALLS, Firing
from cylcollide.view.people import People, clips_for, range_rig
from cylcollide.world.hit_world import HitWorld


def open_range(
    people: Annotated[int, typer.Option(min=1, max=256, help="How many people.")] = 16,
    rig: Annotated[Path | None, typer.Option(help="Their rig, as JSON. Default: a humanoid, z up.")] = None,
    motion: Annotated[
        list[Path] | None, typer.Option(help="BVH, glTF or DeepMimic, again for more. Default: PyBullet's.")
    ] = None,
    policy: Annotated[Path | None, typer.Option(help="A policy, as JSON. Default: the first limb.")] = None,
    energy: Annotated[float, typer.Option(min=0.0, help="Of a shot.")] = 25.0,
    seed: Annotated[int, typer.Option(min=0, help="Of places and beginnings.")] = 0,
    port: Annotated[int, typer.Option(min=1024, max=65535, help="Of this machine alone, or the next one.")] = PORT,
    browser: Annotated[bool, typer.Option(help="Open a browser.")] = True,
) -> None:
    """Shoot at people in motion by a click: limb, distance, damage, PyBullet's answer, and latency as a slider."""
    from cylcollide.view.range import Range  # noqa: PLC0415  viser takes long; help does without it
    from cylcollide.view.viewer import has_display  # noqa: PLC0415

    with errors_in_one_line():
        own = range_rig() if rig is None else Rig.load(rig)
        chosen = POLICY if policy is None else Policy.load(policy)
        shown = Range(make_firing(own, motion or [], people, seed, chosen, energy), port)
    try:
        with until_interrupted(shown.url):
            if browser and has_display():
                webbrowser.open(shown.url)
            shown.run()
    finally:
        shown.close()


def make_firing(
    rig: Rig, motions: list[Path], people: int = 16, seed: int = 0, policy: Policy = POLICY, energy: float = 25.0
) -> Firing:
    """A world of people and two walls; OSError or ValueError for a bad file, or a policy that does not suit the rig."""
    world = HitWorld()
    crowd = People(world, rig, clips_for(rig, motions), people, seed)
    world.add_static(WALLS)
    world.judge_rays([[0.0, 0.0, 0.0]], [[0.0, 0.0, 1.0]], policy, energy=energy)
    return Firing(crowd, world, policy, energy)

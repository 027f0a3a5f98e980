"""A bot for Riff Raff. It loads at random where numbers allow it; the rest is up to you, in `choose`.

arena_kit.py beside this file tells what `choose` gets and what you may use; riffraff_kit.py knows ship and cargo.
`kit.request["refused"]` tells what was wrong with your last load, which you may replace once.

Try it from the folder above this one:  arena check ./<this folder> --game riffraff
"""

import random

import arena_kit as kit
from riffraff_kit import Material, draw_noise

material = None


def start(match):
    global material
    material = Material(kit.hello["material"])


def choose(view, legal, clock):
    if view["phase"] != "load":  # a card, who is captain, the order, one piece or two
        return random.choice(legal)
    return load(view)


def load(view):
    """Return the first of a few loads under which nothing falls in a simulation with weather like today's.

    If there is none, the last that had room; a pose or a pass that was not simulated, if none had.
    """
    best = None
    for _ in range(4 if kit.simulations else 0):
        tried = pose(view)
        said = kit.simulate(load=tried, noise=draw_noise(view))
        if said["refused"]:
            continue  # said["refused"]["message"] tells why
        best = tried
        if not said["result"]["fallen"]:
            break
    return best or pose(view)


def pose(view):
    """Return a load that geometry has nothing against, or a pass if none is found: then the referee looks for one."""
    area = material.areas[view["area"]]
    supply = view["seats"][view["you"]]["supply"]
    kinds = [kind for kind, count in supply.items() if count]
    for _ in range(50):
        kind = random.choice(kinds)
        tried = {
            "kind": kind,
            "face": random.choice(material.faces(kind, view["area"])),
            "u_mm": round(random.uniform(*area["u_mm"]), 1),
            "v_mm": round(random.uniform(*area["v_mm"]), 1),
            "yaw_deg": random.choice([0, 90, 180, 270]),
            "hands_mm": [[45, 75], [45, -75]],
        }
        if not material.refusal(tried, view["area"], supply):
            return tried
    return {"pass": True}


kit.play(choose, start=start)

"""A bot for arena. It plays a legal action at random, in any game; the rest is up to you, in `choose`.

arena_kit.py beside this file tells what `choose` gets and what you may use. Other files and libraries: put them into
this folder. Everything in it is part of the bot.

Try it from the folder above this one:  arena check ./<this folder>
"""

import random

import arena_kit as kit


def choose(view, legal, clock):
    if legal is None:  # the actions cannot be listed: the page of the game has their form; in riffraff this passes
        return {"pass": True}
    return random.choice(legal)


kit.play(choose)

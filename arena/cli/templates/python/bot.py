"""A bot for arena. It plays a legal action at random, in any game; the rest is up to you.

- `act` gets the request of protocol.md as a dict: `view` is all you may know, `legal` lists the legal actions,
  `events` tells what happened since the last request, `clock` what time is left.
- It returns an action, or the index of one in `legal`.
- `print` as much as you like: it goes to the bot's log, never to the referee. `random` is seeded for every match.
- Other libraries and files: put them into this folder. Everything in it is part of the bot.

Try it from the folder above this one:  arena check ./<this folder>
"""

import random

from arena_kit import Bot, run


class MyBot(Bot):
    def start(self, match):
        self.seat = match["seat"]

    def act(self, request):
        if request["legal"] is None:
            # The actions cannot be listed. In riffraff one may pass then; what else may be done, the game's section
            # of protocol.md tells.
            return {"pass": True}
        return random.choice(request["legal"])

    def end(self, result):
        pass


run(MyBot())

"""`python benchmarks/hotspots.py`: cProfile over what a worker does with matches of two instant bots.

Rule: a profile shows where to look, not how long it takes: it makes Python calls look dearer than they are. Measure a
change with run.py.
"""

import cProfile
import os
import pstats
import sys
import tempfile
from pathlib import Path

import click
from benchbots import instant
from matches import NIM, SHANGHAIEN, match_of, seated
from measure import one_core

from arena.match.record import pack
from arena.match.referee import play_match


@click.command()
@click.option("--game", type=click.Choice(["shanghaien", "nim"]), default="shanghaien", show_default=True)
@click.option("--matches", default=100, show_default=True, help="How many matches to play.")
@click.option("--lines", default=30, show_default=True, help="How many functions to show.")
def main(game: str, matches: int, lines: int) -> None:
    """Profile `play_match` and `pack`, and print the functions with the most time of their own."""
    os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    setting = {each.game: each for each in (SHANGHAIEN, NIM)}[game]
    with tempfile.TemporaryDirectory() as folder, one_core():
        bots, _ = instant(Path(folder))
        bot = next(iter(bots.values()))
        with seated(setting, (bot, bot)) as bot_players:
            play_match(match_of(setting), bot_players)
            profile = cProfile.Profile()
            moves = 0
            for number in range(matches):
                spec = match_of(setting, name=f"bench-{number}-0")
                profile.enable()
                record = play_match(spec, bot_players)
                pack(record)
                profile.disable()
                moves += sum(seat.moves for seat in record.seats)
    print(f"{matches} matches of {setting.label}, {bot.name}; {moves} requests; divide times by that")
    pstats.Stats(profile).strip_dirs().sort_stats("tottime").print_stats(lines)


if __name__ == "__main__":
    main()

"""Bytes of a stored match, with and without what it keeps by request.

    python benchmarks/records.py --matches 20 --game nim

Rule: the same matches in both columns; the times in them are those of this machine, and so are their digits.
"""

import argparse
from pathlib import Path
from statistics import mean
from typing import Any, Final

import msgspec
from tabulate import tabulate

from arena.league.tournament import Player
from arena.league.worker import make_bot_player
from arena.match.reconstruction import lines_of
from arena.match.record import MatchRecord, pack, split_packed
from arena.match.referee import play_match
from arena.match.secret_luck import Secret, draw_block
from arena.match.settings import ClockSettings, MatchSettings, spec_of
from arena.process.manifest import read_bot

BOTS: Final = Path(__file__).resolve().parent.parent / "bots"
SETTINGS: Final[dict[str, tuple[tuple[str, ...], tuple[str, ...], dict[str, Any]]]] = {
    "nim": (("random",), ("random",), {"heaps": [3, 4, 5]}),
    "shanghaien": (("greedy",), ("sensible",), {}),
    "riffraff": (("shipmate", "tidy"), ("shipmate", "random"), {}),
}


def main() -> None:
    """Play and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--matches", type=int, default=20)
    parser.add_argument("--game", action="append", choices=list(SETTINGS))
    arguments = parser.parse_args()
    rows = [
        _row(game, [_played(game, number) for number in range(arguments.matches)])
        for game in arguments.game or SETTINGS
    ]
    print(tabulate(rows, ["game", "requests", "bytes without", "with", "more a request"], floatfmt=".1f"))


def _played(game: str, number: int) -> MatchRecord:
    first, second, options = SETTINGS[game]
    setting = MatchSettings(game, options, ClockSettings())
    players = [
        Player(name=f"p{seat}", bot=read_bot(BOTS / name), arguments=tuple(more))
        for seat, (name, *more) in enumerate((first, second))
    ]
    seats = [make_bot_player(player, setting, "none") for player in players]
    try:
        drawn = draw_block(Secret.public("records"), f"records-{number}", 2)
        record = play_match(spec_of(setting, f"records-{number}-0", drawn, 0, "none"), seats)
    finally:
        for seat in seats:
            seat.close()
    assert all(seat.is_exact for seat in lines_of(record)), "the lines of a match are not told by its record"
    return record


def _row(game: str, records: list[MatchRecord]) -> tuple[object, ...]:
    requests = mean(sum(seat.moves for seat in record.seats) for record in records)
    without, whole = mean(map(_bytes, map(_bare, records))), mean(map(_bytes, records))
    return game, requests, without, whole, (whole - without) / requests


def _bytes(record: MatchRecord) -> int:
    return sum(map(len, split_packed(pack(record))[2:]))


def _bare(record: MatchRecord) -> MatchRecord:
    replace = msgspec.structs.replace
    seats = tuple(replace(seat, requests=msgspec.UNSET, lines=msgspec.UNSET) for seat in record.seats)
    return replace(record, seats=seats)


if __name__ == "__main__":
    main()

"""A worker's tables: which process plays which matches."""

from pathlib import Path

import pytest
from league_made import tournament

from arena.league.results import PlayedBlock
from arena.league.schedule import chunks
from arena.league.tournament import Player
from arena.league.worker import play_chunk
from arena.match.record import Acted, unpack
from arena.process.manifest import read_bot

WITNESS = """\
import json, os, sys
for line in sys.stdin:
    message = json.loads(line)
    kind = message["type"]
    if kind == "hello":
        print(json.dumps({"type": "hello", "protocols": [1]}), flush=True)
    elif kind == "match_start":
        print(json.dumps({"type": "ready", "match": message["match"]}), flush=True)
    elif kind == "request":
        print(json.dumps({"type": "action", "id": message["id"], "action": 0, "note": str(os.getpid())}), flush=True)
"""


def processes(block: PlayedBlock) -> list[set[str]]:
    """Of each match, the processes that played it, as they noted it themselves."""
    records = [unpack(match.record) for match in block.matches]
    return [{step.note for step in record.steps if isinstance(step, Acted) and step.note} for record in records]


@pytest.mark.process
def test_no_process_meets_the_luck_of_a_block_twice(tmp_path: Path) -> None:
    """A bot that stayed for the other match of a block would know what comes; for the next block it stays."""
    script = tmp_path / "witness.py"
    script.write_text(WITNESS)
    players = tuple(Player(name=name, bot=read_bot(script)) for name in ("ann", "bob"))
    league = tournament(players=players, cycles=2, options={"heaps": [2, 2]}, chunk_blocks=2)
    (chunk,) = chunks(league, {}, "none")

    first, second = map(processes, play_chunk(chunk))

    assert [len(match) for match in first] == [2, 2]
    assert not first[0] & first[1]
    assert second == first

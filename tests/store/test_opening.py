"""Many processes open one results folder at the same moment: new, or while somebody writes into it."""

import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import pytest
from support.store_made import blocks_of, fill, tournament, writing

from arena.errors import SpecError
from arena.store import database

pytestmark = pytest.mark.process
PROCESSES = 8
OPENER = """
import sys
from contextlib import closing
from pathlib import Path
sys.path[:0] = [sys.argv[3], sys.argv[3] + "/.."]
from arena.errors import ArenaError
from arena.store import database
from arena.store.matches import MatchStore
from support.store_made import blocks_of, counted, tournament

results, does = Path(sys.argv[1]), sys.argv[2]
league = tournament("ann", "bob", cycles=40)
if does == "stores":
    blocks = blocks_of(league)
print("ready", flush=True)
sys.stdin.readline()
try:
    opened = database.open_for_reading(results) if does == "reads" else database.open_for_writing(results)
    if opened is None:
        print("nothing there")
    else:
        with closing(opened):
            store = MatchStore(opened, results)
            if does == "stores":
                for block in blocks:
                    store.save([block])
            print(len(store.leagues()), len(list(store.results(counted(league)))))
except ArenaError as error:
    print(error.exit_code, error)
"""


def all_at_once(results: Path, *does: str) -> list[tuple[str, str, int]]:
    """Start all programs at the same moment; return stdout, stderr and exit code of each."""
    with ExitStack() as stack:
        processes = [
            stack.enter_context(
                subprocess.Popen(
                    [sys.executable, "-c", OPENER, str(results), each, str(Path(__file__).parents[1])],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    text=True,
                )
            )
            for each in does
        ]
        assert [process.stdout and process.stdout.readline() for process in processes] == ["ready\n"] * len(does)
        for process in processes:
            assert process.stdin is not None
            process.stdin.write("\n")
            process.stdin.flush()
        outputs = [process.communicate(timeout=120) for process in processes]
        return [(out.strip(), err, process.returncode) for (out, err), process in zip(outputs, processes, strict=True)]


def test_eight_processes_make_one_folder(tmp_path: Path) -> None:
    """All processes can write into the new folder, and its database is sound."""
    found = all_at_once(tmp_path / "results", *["writes"] * PROCESSES)

    assert found == [("0 0", "", 0)] * PROCESSES


@pytest.mark.slow
def test_many_folders_are_made_by_eight_processes_each(tmp_path: Path) -> None:
    """The moments at which they meet are never the same."""
    for attempt in range(20):
        test_eight_processes_make_one_folder(tmp_path / str(attempt))


@pytest.mark.slow
def test_seven_processes_open_while_one_stores(tmp_path: Path) -> None:
    """Each process sees whole blocks of those stored by then."""
    fill(tmp_path, tournament("ann", "bob", cycles=1))

    found = all_at_once(tmp_path, "stores", *["reads", "writes"] * 3, "reads")

    assert found[0] == ("1 80", "", 0)
    counts = [out.split() for out, err, code in found[1:] if (err, code) == ("", 0)]
    assert len(counts) == PROCESSES - 1
    assert all(leagues == "1" and 2 <= int(matches) <= 80 and int(matches) % 2 == 0 for leagues, matches in counts)


def test_a_writer_that_does_not_end_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """After a while there is a sentence with the file and the advice; it is nobody's mistake, least of all ours."""
    league = tournament("ann", "bob", cycles=2)
    fill(tmp_path, league)
    monkeypatch.setattr(database, "BUSY_S", 0.2)

    with writing(tmp_path) as other, database.transaction(other._connection, other._path), writing(tmp_path) as store:
        with pytest.raises(SpecError, match=r"arena\.db: another program was writing into it .*same command again"):
            store.save(blocks_of(league))
        with pytest.raises(SpecError, match="another program was writing into it"):
            store.save_league(league)

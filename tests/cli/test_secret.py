"""Secret luck on the command line: committed, kept, revealed and repeated."""

import csv
import io
import json
import re
import stat
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from support.cli_arena import Terminal
from support.cli_secret import PUBLIC, TELLTALE, begun, commitments, kept, league, records
from support.golden import Golden
from support.tampering import edit_record

from arena.match.secret_luck import Secret

pytestmark = pytest.mark.process


@pytest.fixture
def terminal(terminal: Terminal) -> Terminal:
    Path("bot.py").write_text(TELLTALE)
    return terminal


def test_the_commitment_is_shown_and_the_secret_is_kept(terminal: Terminal) -> None:
    """The commitment is shown before play, by every format and by `show`; only the owner can read the file."""
    ran = league(terminal)
    match = terminal.first_match()
    shown = [ran.err, ran.out, terminal.arena(f"show {match}").out, terminal.arena("league status").out]
    shown += [terminal.arena(f"leaderboard --format {form}").out for form in ("table", "markdown", "csv", "json")]
    pages = ["matrix", "stats ann"]
    shown += [terminal.arena(f"{page} --format {form}").out for page in pages for form in ("table", "csv", "json")]

    (file,) = kept()
    secret = bytes.fromhex(file.read_text())
    assert ran.code == 0
    assert len(secret) == 32
    assert file.name == sha256(b"arena/commitment" + secret).hexdigest()
    assert [stat.S_IMODE(path.stat().st_mode) for path in (file, file.parent)] == [0o600, 0o700]
    assert all(file.name in text for text in shown)
    assert not any(PUBLIC in text for text in shown)


@pytest.mark.slow
def test_the_same_secret_goes_on_after_a_stop_and_with_a_new_player(terminal: Terminal) -> None:
    """The stored blocks stay the league's: its first commitment is in their pairings."""
    begun(terminal)
    before = records()
    players = [{"bot": "./bot.py", "name": name} for name in ("ann", "bob", "cid")]

    said = league(terminal, players=players, cycles=3)

    assert len(kept()) == 1
    assert "18 of 18 matches" in said.out
    assert before.items() <= records().items()
    assert terminal.arena("verify").code == 0


def test_a_revealed_league_is_repeated_byte_for_byte(terminal: Terminal) -> None:
    """With the secret file anybody gets the same tables in every format, and the same records except times."""
    begun(terminal)
    revealed = terminal.arena("league reveal test --to test.secret")
    again = league(terminal, "--secret-file", "test.secret", "--results", "elsewhere")

    assert (revealed.code, again.code) == (0, 0)
    assert "gives no new block" in revealed.err
    for form in ("table", "markdown", "csv", "json"):
        board = f"leaderboard test --no-timing --format {form}"
        assert terminal.arena(board).out == terminal.arena(f"{board} --results elsewhere").out
    assert records() == records("elsewhere")
    assert len(records()) == 4
    assert "given by --secret-file" in terminal.arena("league status --results elsewhere").out
    assert terminal.arena("verify --results elsewhere").code == 0


@pytest.mark.slow
def test_a_revealed_secret_gives_no_new_block(terminal: Terminal) -> None:
    """New blocks are drawn under a new one with its own commitment, and every block is verified by its own."""
    begun(terminal)
    (first,) = kept()
    printed = terminal.arena("league reveal test").out.strip()
    twice = terminal.arena("league reveal test").out.strip()
    complete = league(terminal)
    same = [path.name for path in kept()]

    longer = league(terminal, cycles=4)

    assert printed == twice == first.read_text().strip()
    assert (complete.code, same) == (0, [first.name])
    new = next(path.name for path in kept() if path != first)
    assert commitments(longer.err) == [first.name, new]
    by_block = {block: record["commitment"] for (_, block, _), record in records().items()}
    assert by_block == {0: first.name, 1: first.name, 2: new, 3: new}
    assert "revealed 2" in terminal.arena("league status").out
    verified = terminal.arena("verify test")
    assert verified.code == 0
    assert "the luck of 8 matches compared with the secret" in verified.out


@pytest.mark.slow
def test_a_comparison_draws_in_secret_and_says_so(terminal: Terminal) -> None:
    """A comparison shows its commitment; with a seed it says that bots can predict the luck."""
    command = "compare ./bot.py random --game nim --elo1 200 --blocks 16 --options '{\"heaps\": [2, 3]}'"

    secret = terminal.arena(command)
    again = terminal.arena(f"{command} --format json")
    public = terminal.arena(f"{command} --seed 5")

    (file,) = kept()
    assert {secret.code, again.code, public.code} <= {0, 1}  # the verdict of so few blocks
    assert file.name in secret.out
    assert json.loads(again.out)["commitments"] == [file.name]
    assert PUBLIC in public.out
    assert terminal.arena("verify").code == 0


def missing(_: Terminal) -> str:
    kept()[0].unlink()
    return "is missing or not yours to read: league test draws its luck under this secret. Put the file back"


def another(_: Terminal) -> str:
    kept()[0].write_text("ab" * 32)
    return "put a copy back"


def torn(_: Terminal) -> str:
    kept()[0].write_text(kept()[0].read_text()[:20])
    return "this is no secret file"


@pytest.mark.slow
@pytest.mark.parametrize("harm", [missing, another, torn])
def test_a_league_does_not_go_on_without_its_secret(terminal: Terminal, harm: Callable[[Terminal], str]) -> None:
    """No new secret is drawn silently; the file given again mends it."""
    begun(terminal)
    Path("copy.secret").write_text(kept()[0].read_text())
    told = harm(terminal)

    said = league(terminal, cycles=3)
    for path in kept():
        path.unlink()
    mended = league(terminal, "--secret-file", "copy.secret", cycles=3)

    assert said.code in {1, 2}
    assert told in said.err
    assert "Traceback" not in said.err
    assert (mended.code, len(kept())) == (0, 1)
    assert terminal.arena("verify").code == 0


def test_which_secret_files_are_taken(terminal: Terminal, golden: Golden) -> None:
    """None beside a public seed, none that was revealed here, and no other one while the league's own is in use."""
    Path("other.secret").write_text("ab" * 32)
    both = league(terminal, "--secret-file", "other.secret", seed=1)
    league(terminal)
    other = league(terminal, "--secret-file", "other.secret", cycles=3)
    terminal.arena("league reveal test --to own.secret")
    own = league(terminal, "--secret-file", "own.secret", cycles=3)
    garbage = league(terminal, "--secret-file", "league.yaml", cycles=3)
    options = terminal.arena("match random random --game nim --seed 1 --secret-file own.secret")

    assert [said.code for said in (both, other, own, garbage, options)] == [2] * 5
    golden(both.err)
    golden(other.err)
    golden(own.err)
    golden(garbage.err)
    golden(options.err)
    assert len(kept()) == 1


@pytest.mark.slow
def test_a_secret_that_one_league_reveals_gives_no_block_to_another(terminal: Terminal) -> None:
    """Two leagues of a folder that draw under the same secret: one reveals it, the other goes on under a new one."""
    Path("same.secret").write_text("cd" * 32)
    for name in ("one", "two"):
        league(terminal, "--secret-file", "same.secret", name=name)
    third = league(terminal, "--secret-file", "same.secret", name="three", cycles=1)

    terminal.arena("league reveal one")
    goes_on = league(terminal, name="two", cycles=3)
    late = league(terminal, "--secret-file", "same.secret", name="four")

    assert (third.code, goes_on.code, late.code) == (0, 0, 2)
    assert len(kept()) == 2
    assert "was revealed, and is never used again" in late.err


@pytest.mark.parametrize(
    "changes", [{"seed": "0" * 32}, {"bot_seeds": [1, 2]}, {"wire_id": "0" * 16}, {"commitment": "0" * 64}]
)
def test_verify_checks_each_block_by_its_secret(terminal: Terminal, changes: dict[str, Any]) -> None:
    """Luck that the secret does not give is found; nim has no dice that could tell."""
    begun(terminal)
    edit_record(terminal.results, "rotation = 1 AND block = 0", lambda record: record.update(changes))

    said = terminal.arena("verify")

    assert said.code == 1
    assert "its secret gives" in said.out or "which is none of its league" in said.out


def test_verify_finds_a_record_without_the_commitment_of_its_league(terminal: Terminal, golden: Golden) -> None:
    """Nobody gets around the comparison with the secret by leaving out which one it was."""
    begun(terminal)
    edit_record(terminal.results, "rotation = 1 AND block = 0", lambda record: record.pop("commitment"))

    said = terminal.arena("verify")

    assert said.code == 1
    golden(said.out)


def test_verify_says_what_it_cannot_check_on_another_machine(terminal: Terminal, golden: Golden) -> None:
    """The results without the secrets: it is no problem, and not silent; with the revealed file it is checked."""
    begun(terminal)
    terminal.arena("league reveal test --to test.secret")
    kept()[0].unlink()

    without, given = terminal.arena("verify"), terminal.arena("verify --secret-file test.secret")
    edit_record(terminal.results, "rotation = 1 AND block = 0", lambda record: record.update(seed="0" * 32))
    unnoticed, noticed = terminal.arena("verify"), terminal.arena("verify --secret-file test.secret")

    assert (without.code, given.code) == (0, 0)
    told = r"the luck of 4 matches not compared with the secret, or the public seed, of commitment \w{64}"
    assert re.search(told, without.out)
    golden(given.out)
    assert "its secret gives" not in unnoticed.out
    golden(noticed.out)


def test_what_is_not_there_is_not_revealed(terminal: Terminal, golden: Golden) -> None:
    """`reveal` makes nothing for an unknown league, and overwrites no file."""
    nothing = terminal.arena("league reveal test")
    made = terminal.results.exists()
    begun(terminal)
    unknown = terminal.arena("league reveal tset")
    there = terminal.arena("league reveal test --to league.yaml")

    assert [said.code for said in (nothing, unknown, there)] == [2, 2, 2]
    assert not made
    golden(unknown.err)
    assert "not revealed" in terminal.arena("league status").out


def test_a_public_seed_is_called_what_it_is(terminal: Terminal, golden: Golden) -> None:
    """Every table, page, export and `show` names a public seed; there is nothing to reveal."""
    ran = league(terminal, seed=2026)
    match = terminal.first_match()
    pages = ["leaderboard", "leaderboard --no-timing", "matrix", "stats ann"]
    formats = ("table", "markdown", "csv", "json")
    shown = [terminal.arena(f"{page} --format {form}").out for page in pages for form in formats]
    shown += [ran.out, terminal.arena(f"show {match} --to page.html").out, Path("page.html").read_text()]
    shown += [terminal.arena("league status").out, terminal.arena("match random random --game nim --seed 1").out]
    revealed = terminal.arena("league reveal test")

    assert all(PUBLIC in text for text in shown)
    assert json.loads(terminal.arena("leaderboard --format json").out)["standings"]["luck"]["public_seed"] == "2026"
    assert {row["luck"] for row in csv.DictReader(io.StringIO(terminal.arena("matrix --format csv").out))} == {
        f"luck from a {PUBLIC} (seed: 2026)"
    }
    assert not Path("results/secrets").exists()
    assert revealed.code == 2
    golden(revealed.err)


@pytest.mark.slow
def test_what_is_played_at_once_prints_its_secret_and_is_repeated_by_it(terminal: Terminal) -> None:
    """The secret is printed with the result; in a file it gives the same luck, and stays there."""
    Path("bot.py").write_text(TELLTALE.replace("99", "0"))
    line = "submit ./bot.py --game nim --options '{\"heaps\": [2, 3]}'"
    first = terminal.arena(line)
    (told,) = re.findall(r"luck: secret ([0-9a-f]{64}), commitment", first.out)
    Path("luck.secret").write_text(told)

    again = terminal.arena(f"{line} --secret-file luck.secret --results elsewhere")

    def timeless(text: str) -> list[str]:
        return [line for line in text.splitlines() if not re.search(r"luck|\d/\d|slowest answer|ended|ends", line)]

    assert timeless(first.out) == timeless(again.out)
    assert told not in again.out
    assert Secret(bytes.fromhex(told)).commitment in again.out
    assert not list(Path("results").glob("secrets/*"))


def test_no_process_of_arena_match_meets_a_block_twice(terminal: Terminal) -> None:
    """Its note is the life of the process: the second match of a block has other ones than the first."""
    Path("bot.py").write_text(TELLTALE.replace("99", "0").replace("'n'", "life"))

    said = terminal.arena("match ./bot.py ./bot.py --game nim --steps --blocks 2 --options", '{"heaps": [2, 2]}')

    matches = re.split(r"^match ", said.out, flags=re.MULTILINE)[1:]
    blocks: dict[str, list[set[str]]] = {}
    for text in matches:
        blocks.setdefault(text.split("-")[1], []).append(set(re.findall(r"# '(\w+)'", text)))
    assert [len(each) for each in blocks.values()] == [2, 2]
    assert all(one and not one & other for one, other in blocks.values())

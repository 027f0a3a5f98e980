"""Tables of three and four on the command line, and a stored match as pictures."""

import re
from pathlib import Path

import pytest
from support.bot_source import bot_script
from support.cli_arena import Terminal
from support.golden import Golden

pytestmark = [pytest.mark.process, pytest.mark.usefixtures("toy_game")]


@pytest.fixture
def terminal(terminal: Terminal) -> Terminal:
    """Return a terminal with a bot of the toy game, which leans out by its seat and trims the sail."""
    Path("leaner.py").write_text(bot_script("0 if m['legal'] else {'mm': 20 + m['view']['you']}"))
    return terminal


def test_a_block_has_a_match_for_every_rotation(terminal: Terminal) -> None:
    """Bots of one name are numbered, each of them sits once in every seat, and the table has them all."""
    seats = 4
    said = terminal.arena(f"match {'./leaner.py ' * seats} --game toy --blocks 2")

    assert said.code == 0, said.err
    matches = re.findall(r"^(\w+-\d-\d)  (.+)$", said.out, re.MULTILINE)
    seated = [[part.split()[0] for part in line.split(" : ")] for _, line in matches]
    names = [f"leaner-{number}" for number in range(1, seats + 1)]
    played = [match[-4:] for match, _ in matches]
    assert sorted(played) == [f"-{block}-{turn}" for block in range(2) for turn in range(seats)]
    for seat in range(seats):
        assert sorted(players[seat] for players in seated) == sorted(names * 2)
    (total,) = re.findall(rf"^{2 * seats} matches; won: (.+)$", said.out, re.MULTILINE)
    assert [each.split()[0] for each in total.split(", ")] == names


def test_a_person_can_sit_at_a_table_of_four(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch, golden: Golden
) -> None:
    """In any seat, against three bots that sit around; the command for the same luck names them all."""
    monkeypatch.setattr("click.prompt", lambda *_, **__: '{"mm": 7}')
    bots = " ".join(["./leaner.py"] * 3)

    said = terminal.arena(f"play {bots} --game toy --seat 2 --seed 1", "--options", '{"rounds": 1}')

    assert said.code == 0, said.err
    golden(said.out)
    assert f"arena play {bots} --seed 1 --seat 2 --game toy" in said.out


def test_show_writes_a_page_that_plays_the_match(terminal: Terminal, golden: Golden) -> None:
    """`show --to` writes one file with the block; the text stays on stdout, stderr says where the page is."""
    terminal.played()
    match = terminal.first_match()

    plain = terminal.arena(f"show {match}")
    said = terminal.arena(f"show {match} --to nim.html")

    page = Path("nim.html").read_text()
    assert (said.code, said.out) == (0, plain.out)
    golden(said.err)
    assert f'data-match="{match}"' in page
    assert page.count('arena_data("match-') == 2


def test_show_opens_the_page_in_a_browser(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a new temporary file; without a browser the path is told."""
    terminal.played()
    match, urls = terminal.first_match(), list[str]()

    def opened(url: str) -> bool:
        urls.append(url)
        return len(urls) == 1

    monkeypatch.setattr("webbrowser.open", opened)

    said = [terminal.arena(f"show {match} --open") for _ in range(2)]

    assert [one.code for one in said] == [0, 0]
    paths = [Path(url.removeprefix("file://")) for url in urls]
    assert paths[0] != paths[1]
    assert all(f'data-match="{match}"' in path.read_text() for path in paths)
    assert [("no browser was found" in one.err) for one in said] == [False, True]
    for path in paths:
        path.unlink()


def test_notes_are_on_the_page_for_private_players_only(terminal: Terminal, golden: Golden) -> None:
    """A player who did not sit there is refused, and so is the option without a page."""
    terminal.played()
    match = terminal.first_match()

    said = [terminal.arena(f"show {match} {more}") for more in ("--private p0", "--to a.html --private nobody")]

    assert [one.code for one in said] == [2, 2]
    golden(said[0].err)
    golden(said[1].err)
    assert not Path("a.html").exists()


@pytest.mark.parametrize("workers", [1, 2])
def test_an_interrupted_verification_exits_with_3(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch, workers: int
) -> None:
    """At once, whoever checks."""
    terminal.played()

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("arena.cli.edge._DRAW_EVERY_S", 0.0)
    monkeypatch.setattr("arena.cli.edge.TerminalLine._draw", interrupt)

    said = terminal.arena(f"verify --workers {workers}")

    assert (said.code, said.err.strip()) == (3, "interrupted")
    assert "test: 2 bots have their hashes" in said.out

"""A small course: a league of nim with two submitted bots, of ada and ben, a bundled bot, and one from a folder."""

from pathlib import Path

from support.bot_source import bot_script
from support.cli_arena import Terminal
from support.opinions import NIM_JUDGE

HEAPS = [2, 2]
FAILS = "if m['view']['heaps'] == [2, 2]: sys.exit('</pre>\\x1b[2J stderr of ben')"
"""Ends a bot in the league, but not in the trials of its submission."""
PRIVATE = ("source of {}", "note of {}", "start of {}", "field_of_{}")
"""Texts that only the organiser and the author of a bot may see."""


def hand_in(name: str, script: str) -> str:
    """A hand-in of that author, whose bot has the same name; return its path."""
    folder = Path("handed-in", name)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "bot.py").write_text(script)
    (folder / "bot.yaml").write_text(f"name: {name}\ncommand: [python3, bot.py]\n")
    return str(folder)


def private_bot(author: str, asked: str = "") -> str:
    """A bot with the `PRIVATE` texts of its author in its source, its notes, its stderr and its `hello`."""
    source, note, start, field = (text.format(author) for text in PRIVATE)
    hello = {"type": "hello", "protocols": [1], field: 1}
    said = f"print({start!r}, file=sys.stderr, flush=True)"
    return f"# {source}\n{bot_script(note=repr(note), start=said, hello=repr(hello), asked=asked)}"


def play_course(terminal: Terminal) -> None:
    """Submit the bots and play the league; `judge.py` judges it exactly."""
    Path("judge.py").write_text(NIM_JUDGE)
    Path("guest.py").write_text(bot_script())
    ada, ben = hand_in("ada", private_bot("ada")), hand_in("ben", private_bot("ben", FAILS))
    submitted = terminal.arena("submit --game nim --seed 1", ada, ben)
    assert submitted.code == 0, submitted
    players = [{"bot": "ada"}, {"bot": "ben"}, {"bot": "random"}, {"bot": "./guest.py"}]
    played = terminal.league(players=players, options={"heaps": HEAPS})
    assert played.code == 0, played

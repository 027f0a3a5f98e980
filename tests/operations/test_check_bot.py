"""Checks of bots as a tournament plays, and with every option of each game that a bot names."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from support.bot_source import bot_script
from support.golden import Golden
from support.toy_game import ToyGame, on_offer

from arena.conformance.check import CheckStep, StepFailed, StepVerdict
from arena.errors import SpecError
from arena.match.secret_luck import Secret
from arena.operations.check_bot import CheckBot, check_bot
from arena.operations.events import Event
from arena.operations.examination import BaselineMet
from arena.operations.submit_bots import SubmitBots, submit_bot
from arena.operations.trials import CheckBegun, LuckChosen, StepTaken, baseline_names

pytestmark = pytest.mark.process
CAREFREE = bot_script(asked="assert 'expansions' not in m['view'], 'never heard of expansions'")


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def bot(script: str = "", **manifest: Any) -> str:
    """A bot called mine; a folder with the manifest if there is one."""
    if not manifest:
        Path("mine.py").write_text(script or bot_script())
        return "./mine.py"
    Path("mine").mkdir(exist_ok=True)
    Path("mine/bot.py").write_text(script or bot_script())
    Path("mine/bot.yaml").write_text(yaml.safe_dump({"name": "mine", "command": ["python3", "bot.py"], **manifest}))
    return "./mine"


def cup(**changes: object) -> str:
    """A tournament of which no player is there."""
    content = {"name": "cup", "game": "nim", "cycles": 1, "players": [{"bot": "./nobody"}] * 2, **changes}
    Path("cup.yaml").write_text(yaml.safe_dump(content))
    return "cup.yaml"


def checked(text: str, **choices: Any) -> list[Event]:
    """The events of a check that passes."""
    events: list[Event] = []
    check_bot(CheckBot(bot=text, **choices), events.append)
    return events


def steps(events: list[Event]) -> list[CheckStep]:
    return [event.step for event in events if isinstance(event, StepTaken)]


def tables(events: list[Event], verdict: StepVerdict) -> list[str]:
    """The titles of the steps at other tables than the first."""
    titles = [step.title for step in steps(events) if step.verdict is verdict]
    return [title for title in titles if title.startswith(("plays with", "plays at"))]


def games(events: list[Event]) -> list[tuple[str, dict[str, Any]]]:
    return [(event.game, event.options) for event in events if isinstance(event, CheckBegun)]


def test_a_bot_that_fails_with_an_expansion_is_told_so(golden: Golden) -> None:
    """As a remark where nobody asked for expansions, and as a refusal where the tournament has them."""
    events = checked(bot(CAREFREE))
    assert games(events) == [("shanghaien", {})]
    assert len(tables(events, StepVerdict.REMARK)) == 5
    remarks = [step.detail for step in steps(events) if step.verdict is StepVerdict.REMARK]
    assert all(
        remark.startswith("it forfeits a match of such a tournament\ncrash: the bot ended") for remark in remarks
    )

    asked = cup(game="shanghaien", options={"expansions": ["sharks"]})
    for refuse in (
        lambda: check_bot(CheckBot(bot="./mine.py", tournament=asked)),
        lambda: submit_bot(SubmitBots(bots=("./mine.py",), tournament=asked)),
    ):
        with golden.raises(StepFailed) as error:
            refuse()
        golden(error.value.reason)


def test_options_and_numbers_of_seats_that_a_game_has_are_tried() -> None:
    """Of nim both options; of the toy game each number of seats, in which a bot that knows of two alone is told so."""
    events = checked(bot(), game="nim")
    assert tables(events, StepVerdict.PASSED) == ['plays with {"misere":true}', 'plays with {"heaps":[1,20,7,2]}']
    assert tables(checked("./mine.py", game="nim", options={"heaps": [2]}), StepVerdict.PASSED) == []

    pair = bot(bot_script("{'mm': 1}", each="assert len(m.get('players', 'ab')) == 2, 'only pairs'"))
    with on_offer():
        events = checked(pair, game="toy")
    others = [f"plays at a table of {seats}" for seats in ToyGame.seat_counts if seats != 2]
    assert tables(events, StepVerdict.REMARK) == others


def test_each_game_of_the_manifest_is_tried(golden: Golden) -> None:
    """And only the chosen one, or that of the tournament, where there is one."""
    path = bot(games=["nim", "shanghaien"])

    assert games(checked(path)) == [("nim", {}), ("shanghaien", {})]
    assert games(checked(path, game="nim")) == [("nim", {})]
    assert games(checked(path, tournament=cup(options={"misere": True}))) == [("nim", {"misere": True})]
    with golden.raises(SpecError):
        checked(bot(games=["nim", "chess"]))


def test_a_tournament_says_clock_and_limits(golden: Golden) -> None:
    """Those of its file, for the check and the block against the baseline; the luck is reported once."""
    events: list[Event] = []
    request = SubmitBots(bots=(bot(),), tournament=cup(clock={"move_ms": 77}, limits={"memory_mib": 100}))

    submit_bot(request, events.append)

    assert any(step.detail.endswith(" of 77 ms") for step in steps(events))
    met = [event for event in events if isinstance(event, BaselineMet)]
    assert sorted((event.seat, event.record.players[event.seat]) for event in met) == [(0, "mine"), (1, "mine")]
    assert {event.record.scores for event in met} <= {(0, 1), (1, 0)}
    assert [event.is_new for event in events if isinstance(event, LuckChosen)] == [True]
    with golden.raises(SpecError):
        checked(bot(limits={"memory_mib": 200}), tournament="cup.yaml")


def test_a_bot_of_a_family_of_games_needs_one_of_them() -> None:
    """The manifest of an engine names the family alone; nothing is imported to say which option is missing."""
    with pytest.raises(SpecError, match="mine: games: openspiel has many games: say which by --game openspiel:NAME"):
        checked(bot(games=["openspiel"]))


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"options": {"heap": 1}}, '--for: options of nim: unknown key "heap"'),
        ({"game": "go"}, '--for: unknown game "go"'),
        ({"seats": 3}, "--for: seats: found 3, nim is for 2 players"),
        ({"clok": {}}, 'unknown key "clok"'),
        ({"game": "shanghaien"}, "mine plays nim, not shanghaien"),
    ],
)
def test_a_tournament_that_cannot_be_played_is_told(changes: dict[str, object], said: str) -> None:
    """Before anything is started."""
    with pytest.raises(SpecError, match=said):
        checked(bot(games=["nim"]), tournament=cup(**changes))


@pytest.mark.parametrize(
    ("action", "said"),
    [
        ("int(os.environ.setdefault('SEEN', '0') == '1' and len(m['legal']) > 1)", "the bot keeps something"),
        ("int.from_bytes(os.urandom(4), 'big') % len(m['legal'])", "also in a fresh process: results of such a bot"),
    ],
)
def test_a_used_process_is_compared_with_a_fresh_one(action: str, said: str) -> None:
    """A bot that remembers its matches, and one that follows no seed, are told apart."""
    remember = "os.environ['SEEN'] = '1' if m['type'] == 'match_end' else os.environ.get('SEEN', '0')"
    path = bot(bot_script(action, each=remember))

    events = checked(path, game="nim", options={"heaps": [9] * 6}, secret=Secret.public("1"))

    fifth = steps(events)[4]
    assert (fifth.title[:20], fifth.verdict, said in fifth.detail) == ("plays the same again", StepVerdict.REMARK, True)
    assert [event.is_new for event in events if isinstance(event, LuckChosen)] == [False]


def test_a_check_leaves_nothing_behind() -> None:
    """A bot that is only tried out is installed nowhere for good, whatever came of it."""
    checked(bot(), game="nim")
    with pytest.raises(StepFailed):
        checked(bot("import sys\nsys.exit('I will not play')\n"), game="nim")

    assert [path.name for path in Path().iterdir()] == ["mine.py"]


@pytest.mark.parametrize(
    ("name", "names"),
    [
        ("mine", ["random", "random-2", "random-3"]),
        ("random", ["random-baseline", "random-baseline-2", "random-baseline-3"]),
        ("random-3", ["random-baseline", "random-baseline-2", "random-baseline-3"]),
    ],
)
def test_no_rival_has_the_name_of_the_bot(name: str, names: list[str]) -> None:
    """Or one of the two would sit in the seats of both."""
    assert baseline_names(name, "random", 3) == names


def test_values_are_compared_by_the_check_and_not_when_a_bot_is_submitted(golden: Golden) -> None:
    """A class hands in many bots, and values decide nothing in a league."""
    script = bot_script(
        hello='{"type": "hello", "protocols": [1], "capabilities": ["evaluate"]}',
        each="if m['type'] == 'evaluate': sys.exit('no values yet')",
    )
    name, submitted = bot(script), list[Event]()

    *_, last = steps(checked(name, game="nim"))
    submit_bot(SubmitBots(bots=(name,), game="nim"), submitted.append)

    golden(last.title)
    assert last.verdict is StepVerdict.REMARK
    golden(last.detail)
    assert last.title not in [step.title for step in steps(submitted)]


@pytest.mark.slow
def test_the_values_of_the_strongest_bundled_bot_are_sound() -> None:
    """It solves the rest of a round of Shanghaien exactly."""
    *_, last = steps(checked("el-dado", isolation="none"))

    assert last.verdict is StepVerdict.PASSED
    assert re.match(r"in \d+ matches by its best actions values are 0\.0\d too \S+ on average, 0\.00 too ", last.detail)

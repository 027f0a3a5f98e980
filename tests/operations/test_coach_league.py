"""The cost of a decision of each player of a league: judged once, kept beside the results, and never in their way."""

import json
import shutil
from pathlib import Path

import pytest
from support.bot_source import bot_script
from support.cli_arena import Terminal
from support.golden import Golden
from support.opinions import NIM_JUDGE
from support.tampering import delete_match

from arena.errors import ArenaError, SpecError
from arena.match.analyst import JudgeFailed
from arena.operations.coach_league import CoachLeague, coach_league
from arena.operations.events import Event, Progress
from arena.operations.sites import BuildSite, build_site
from arena.operations.verify_leagues import VerifyLeagues, verify_leagues
from arena.standings.mistakes import LeagueMistakes, PlayerMistakes

pytestmark = [pytest.mark.process, pytest.mark.usefixtures("league")]
PERFECT = """next((i for i, a in enumerate(m["legal"]) if not __import__("functools").reduce(lambda x, y: x ^ y,
 [h - (a["count"] if n == a["heap"] else 0) for n, h in enumerate(m["view"]["heaps"])])), 0)""".replace("\n", "")


@pytest.fixture
def league(terminal: Terminal) -> Terminal:
    """A league of nim with a perfect player, and a bot that judges it exactly."""
    Path("perfect.py").write_text(bot_script(PERFECT))
    Path("judge.py").write_text(NIM_JUDGE)
    terminal.played("random", "./perfect.py", "random", options={"heaps": [3, 4, 5]})
    return terminal


def coached(**choices: object) -> LeagueMistakes:
    return coach_league(CoachLeague(**{"league": "test", "by": ("./judge.py",), "workers": 2, **choices}))  # type: ignore[arg-type]


def player(mistakes: LeagueMistakes, name: str) -> PlayerMistakes:
    return next(player for player in mistakes.players if player.name == name)


def test_a_perfect_player_makes_no_mistake_and_a_random_one_does(golden: Golden) -> None:
    """Each mistake at Nim costs a whole win; the players stand in the order of the standings."""
    mistakes = coached()

    assert (mistakes.league, mistakes.judged, mistakes.stored, mistakes.failures) == ("test", 12, 12, {})
    golden(mistakes.by)
    perfect, guessing = player(mistakes, "p1"), player(mistakes, "p0")
    assert mistakes.players[0] == perfect
    assert (perfect.matches, perfect.blocks, perfect.mistakes, perfect.unjudged) == (8, 4, 0, 0)
    assert guessing.mistakes > 0
    assert guessing.cost is not None
    assert guessing.cost.value == pytest.approx(guessing.mistakes / guessing.decisions)


def test_known_judgements_are_not_made_again_and_deleting_them_loses_nothing() -> None:
    """Another judge, and another time for a decision, are judged anew. Verification ignores the cache."""
    first = coached()
    files = {path: path.read_bytes() for path in Path("results/coach").rglob("*.json")}
    times = {path: path.stat().st_mtime_ns for path in files}
    assert len(files) == 12

    assert coached() == first
    assert {path: path.stat().st_mtime_ns for path in files} == times
    assert coached(budget_ms=200.0) == first
    assert len([*Path("results/coach").iterdir()]) == 2

    damaged = next(iter(files))
    damaged.write_bytes(b"nonsense")
    Path("results/coach/notes.txt").write_text("not ours")
    assert verify_leagues(VerifyLeagues()) == ()
    assert coached() == first
    shutil.rmtree("results/coach")
    assert verify_leagues(VerifyLeagues()) == ()
    assert coached() == first
    assert {path: path.read_bytes() for path in Path("results/coach").rglob("*.json")} == files


def test_a_sample_is_spread_over_all_pairings_in_whole_blocks() -> None:
    """Seven matches are four blocks: one of each pairing, and one more. Progress counts matches."""
    events: list[Event] = []
    request = CoachLeague(league="test", by=("./judge.py",), matches=7, workers=1)
    mistakes = coach_league(request, events.append)

    assert mistakes.judged == 8
    assert sorted(player.matches for player in mistakes.players) in ([4, 6, 6], [4, 4, 8])
    assert [event for event in events if isinstance(event, Progress)][-1] == Progress("matches", 8, 8)


def test_a_block_that_is_not_whole_is_not_judged() -> None:
    """The luck of its lost match is still to come."""
    delete_match(Path("results"), lambda match: match.key.block == 0)

    assert 0 < coached().judged < 12


def test_the_site_shows_what_is_there_and_starts_no_bot() -> None:
    """Costs are on the pages of matches after the league was judged; the bot may be gone by then."""

    def texts(folder: str) -> str:
        build_site(BuildSite(out=Path(folder), matches="all"))
        return "".join(path.read_text() for path in Path(folder, "data").glob("match-*.js"))

    assert '"better"' not in texts("before")
    coached()
    Path("judge.py").unlink()
    shutil.rmtree("results/bots")
    assert "better by 100.0 %" in texts("after")
    assert "by the bot judge" in texts("after")


def test_a_judge_that_does_not_evaluate_or_is_missing() -> None:
    """The reason is that of the bot; nothing is kept."""
    wrong: tuple[tuple[dict[str, object], type[ArenaError], str], ...] = (
        ({"by": ("random",)}, JudgeFailed, r"random 1 .* does not evaluate"),
        ({"by": ("./none.py",)}, SpecError, "--by: ./none.py"),
        ({"by": ()}, SpecError, "nim has no value of its own"),
        ({"by": ("./judge.py", "random")}, SpecError, "expected one"),
        ({"league": "other"}, SpecError, "no league"),
    )
    for choices, kind, said in wrong:
        with pytest.raises(kind, match=said):
            coached(**choices)
    assert not [*Path("results").glob("coach/*/*")]


@pytest.mark.slow
@pytest.mark.parametrize("judges", [(), ("el-dado",)])
def test_sensible_errs_less_than_greedy_and_random(terminal: Terminal, judges: tuple[str, ...]) -> None:
    """By the game's own value, and by el-dado, in 144 matches; the intervals are apart."""
    bots = ("random", "greedy", "sensible", "el-dado")
    terminal.played(*bots, game="shanghaien", name="order", cycles=12)
    mistakes = coached(league="order", by=judges, workers=None)
    costs = dict(zip(bots, (player(mistakes, f"p{number}").cost for number in range(4)), strict=True))

    best, sensible, greedy, guessing = (costs[name] for name in reversed(bots))
    assert best is not None
    assert sensible is not None
    assert greedy is not None
    assert guessing is not None
    assert sensible.high < greedy.value
    assert sensible.high < guessing.low
    assert best.value < sensible.value


def test_the_command_prints_the_cost_of_a_decision_beside_the_rating(league: Terminal, golden: Golden) -> None:
    """As a table, and as JSON with all numbers; a match and a league at once are refused."""
    table = league.arena("coach --league test --by ./judge.py")
    data = json.loads(league.arena("coach --league test --by ./judge.py --format json").out)

    assert (table.code, table.err) == (0, "")
    golden(table.out)
    assert [line.split()[0] for line in table.out.splitlines()[6:]] == [one["name"] for one in data["players"]]
    assert data["players"][0]["cost"]["value"] == 0.0
    for line in ("coach", f"coach {league.first_match()} --league test", f"coach {league.first_match()} --matches 3"):
        assert league.arena(line).code == 2

"""The check of a bot that evaluates: honest values pass, and each way to be wrong is named with its size."""

import re
import shutil
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from random import Random

import pytest
from support.docs_pages import ROOT
from support.golden import Golden
from support.opinions import EVALUATING, Values, analyst, evaluation, nim_values
from support.scripted_bot import CLOCK, Message, ScriptedBot, random_match, seated, toy_bot, toy_match
from support.toy_game import on_offer

from arena.conformance import analyst as values_check
from arena.conformance.analyst import examine_values
from arena.conformance.check import CheckPlan, CheckStep, StepVerdict, check_bot, check_draws
from arena.games import load_game
from arena.games.api import Seat
from arena.games.kuhn_poker import RANKS
from arena.match.record import MatchRecord
from arena.match.secret_luck import Secret
from arena.match.settings import ClockSettings, MatchSettings
from arena.process.launch import Confinement
from arena.process.limits import Limits
from arena.process.manifest import read_bot

Change = Callable[[float], float]


def nim_analyst(change: Change = float) -> ScriptedBot:
    """An analyst of Nim that changes the exact values."""
    return analyst(lambda message: [change(value) for value in nim_values(message)])


def kuhn_analyst(change: Change = float) -> ScriptedBot:
    """An analyst of Kuhn poker that knows its own card: folding loses, everything else is worth the card."""

    def values(message: Message) -> Values:
        card = RANKS.index(message["view"]["cards"][message["view"]["you"]])
        return [0.0 if action["do"] == "fold" else change((0.1, 0.5, 0.9)[card]) for action in message["legal"]]

    return analyst(values)


def examined(
    bot: ScriptedBot, game: str = "nim", records: list[MatchRecord] | None = None, clock: ClockSettings = CLOCK
) -> tuple[list[str], bool]:
    """The sentences about the values of the bot, and whether they are sound."""
    records = records or [random_match(game, number) for number in range(12)]
    rules, seats = load_game(game), len(records[0].seats)
    text, is_sound = examine_values(
        MatchSettings(game, {}, clock), records, lambda clock: seated(bot, clock, game=rules, seats=seats)
    )
    return text.splitlines(), is_sound


def test_exact_values_are_sound(golden: Golden) -> None:
    """The theory of Nim is right in all matches, about ends and about the rest."""
    (sentence,), is_sound = examined(nim_analyst())

    assert is_sound
    golden(sentence)
    assert re.findall(r"(\S+) too \S+ (on average|at the end|before the end)", sentence) == [
        ("0.00", "on average"),
        ("0.00", "at the end"),
        ("0.00", "before the end"),
    ]


@pytest.mark.parametrize(
    ("change", "sentences"),
    [
        (lambda _: 0.5, [r"values never differ: in 200 matches each is 0\.5"]),
        (
            lambda value: 1 - value,
            [
                r"values are 0\.\d+ too high on average: both seats together expect 1\.9\d and not 1 \(\d+ .*",
                r"values are 1\.00 too bold at the end: .* than the results for actions that end the match \(.*",
                r"values are 0\.\d+ too bold before the end: .* than the results of matches played on by .*",
            ],
        ),
        (
            lambda value: 0.4 + 0.2 * value,
            [r"values are 0\.40 too cautious before the end: so much nearer to 1/2 than .* 0\.1 is tolerated\)"],
        ),
        (
            lambda value: min(1.0, value + 0.3),
            [r"values are 0\.1\d too high on average: both seats together expect 1\.\d+ and .* 0\.15 is tolerated\)"],
        ),
        (lambda value: value / 100, [r"values are 0\.\d+ too low on average: .*", r".*", r".*"]),
    ],
    ids=["always one half", "those of the other seat", "squeezed", "too high", "points in place of payoffs"],
)
def test_wrong_values_are_named_with_their_size(change: Change, sentences: list[str]) -> None:
    """Each sentence begins with the verdict, and says how much is tolerated."""
    found, is_sound = examined(nim_analyst(change))

    assert not is_sound
    assert len(found) == len(sentences), found
    for sentence, expected in zip(found, sentences, strict=True):
        assert re.fullmatch(expected, sentence)


def test_in_a_game_that_hides_cards_the_first_turn_of_a_match_counts(golden: Golden) -> None:
    """Both seats may hope for more than they can have, as long as it is even on average over the deals."""
    (sound,), is_sound = examined(kuhn_analyst(), "kuhn_poker")
    (unsound, *_), is_offset_sound = examined(kuhn_analyst(lambda value: min(1.0, value + 0.4)), "kuhn_poker")

    assert is_sound
    assert "at the end" not in sound
    assert not is_offset_sound
    golden(unsound)


def test_errors_of_an_analyst_that_samples_are_allowed_for() -> None:
    """The best of several samples is too high on average: twice the standard errors are tolerated besides."""

    def sampled(errors: bool) -> ScriptedBot:
        def reply(message: Message, _number: int) -> list[bytes]:
            values = [min(1.0, value + 0.3) for value in nim_values(message)]
            return [evaluation(message, values, [0.1] * len(values) if errors else [])]

        return ScriptedBot(reply, hello=(EVALUATING,))

    assert not examined(sampled(errors=False))[1]
    assert examined(sampled(errors=True))[1]


@pytest.mark.parametrize(
    ("values", "errors", "fault"),
    [
        ([0.5] * 40, [], r"malformed_reply: 40 values and 0 errors for \d+ actions"),
        ([0.5], [0.1, 0.1], r"malformed_reply: 1 values and 2 errors for \d+ actions"),
        (["0.5"], [], r"malformed_reply: .*"),
        ([1.5], [], r"malformed_reply: .*"),
        ([float("nan")], [], r"malformed_reply: .*"),
    ],
)
def test_a_wrong_answer_is_named(values: list[float], errors: list[float], fault: str) -> None:
    """It ends the comparison, in the words of the coach."""
    bot = ScriptedBot(lambda message, _: [evaluation(message, values, errors)], hello=(EVALUATING,))

    (sentence,), is_sound = examined(bot)

    assert not is_sound
    assert re.fullmatch(f"the analyst gave no values: {fault}", sentence)


def test_a_late_answer_is_named(golden: Golden) -> None:
    """The budget is that of the message; the bank of the match pays for a little more."""

    def slow(message: Message, _number: int) -> list[bytes]:
        bot.times.cpu_s += 2.0
        return [evaluation(message, nim_values(message))]

    bot = ScriptedBot(slow, hello=(EVALUATING,))

    (sentence,), is_sound = examined(bot)

    assert not is_sound
    golden(sentence)


def test_the_analyst_hears_of_its_own_actions() -> None:
    """As from the coach: between two questions all that happened, with what the seat itself chose, also by lot."""
    bots = [nim_analyst() for _ in range(2)]
    rest = [*bots]
    examine_values(MatchSettings("nim", {}, CLOCK), [random_match("nim", 1)], lambda clock: seated(rest.pop(0), clock))

    first = bots[0].of_type("evaluate")
    later = [message for before, message in pairwise(first) if before["match"] == message["match"]]
    assert later
    assert all([event["seat"] for event in message["events"]] == [0, 1] for message in later)


def test_what_cannot_be_judged_is_not_examined() -> None:
    """With the reason that the coach gives."""
    with on_offer():
        records = [toy_match(toy_bot(), toy_bot())]
        assert examined(toy_bot(), "toy", records) == (["not examined: several seats decided at once"], True)


def test_honest_values_are_rarely_reported() -> None:
    """At most 1 of 6000 series in each direction, though the mean lies at the tolerance."""
    random, tolerance = Random(1), 0.1

    def report(chance: float) -> bool:
        value = chance - tolerance
        differences = [(float(random.random() < chance) - value, 0.0) for _ in range(200)]
        return values_check._is_beyond(differences, tolerance)

    assert sum(report(chance) for chance in (0.55, 0.7, 0.85, 0.95) for _ in range(250)) == 0


def test_at_larger_tables_one_seat_is_followed() -> None:
    """From its chosen value to its best one at its next decision, and to the payoff."""
    decisions = [
        values_check._Decision(Seat(seat), best, chosen, slack, ())
        for seat, best, chosen, slack in [
            (0, 0.5, 0.25, 0.0),
            (1, 0.5, 0.5, 0.0),
            (2, 1.0, 1.0, 0.0),
            (0, 0.5, 0.0, 0.125),
        ]
    ]

    assert [*values_check._turns(decisions, (1.0, 0.5, 0.0), 0)] == [(0.25, 0.125), (1.0, 0.125)]
    assert [*values_check._turns(decisions, (1.0, 0.5, 0.0), 1)] == [(0.0, 0.0)]


def alphabeta(folder: Path, change: str) -> Path:
    """The bundled analyst of Connect Four that looks at 60 positions, with its payoffs `x` changed."""
    shutil.copytree(ROOT / "bots/alphabeta", folder)
    for name, before, after in [
        ("bot.yaml", "[python3, bot.py]", '[python3, bot.py, "60"]'),
        ("bot.py", "return [payoff(", f"payoff_of = lambda x: {change}\n    return [payoff_of(payoff("),
        ("bot.py", " for action in legal]", ") for action in legal]"),
    ]:
        text = (folder / name).read_text()
        assert text.count(before) == 1
        (folder / name).write_text(text.replace(before, after))
    return folder


@pytest.mark.process
@pytest.mark.parametrize(
    ("change", "verdict", "sentence"),
    [
        (
            "x",
            StepVerdict.PASSED,
            r"in \d+ matches by its best actions values are 0\.0\d too \S+ on average, 0\.00 too .*",
        ),
        (
            "min(1, x + 0.15)",
            StepVerdict.REMARK,
            r"values are 0\.1\d too high on average: both seats together expect 1\.2.*",
        ),
        ("0.4 + 0.2 * x", StepVerdict.REMARK, r"values are 0\.[34]\d too cautious at the end: .*"),
        ("1 - x", StepVerdict.REMARK, r"values are 0\.\d+ too high on average: (.|\n)*"),
    ],
)
def test_a_bot_that_evaluates_gets_one_step_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: str, verdict: StepVerdict, sentence: str, golden: Golden
) -> None:
    """It is the last step; wrong values are a remark, for nobody plays by them."""
    monkeypatch.setattr(values_check, "_MATCHES", 60)
    clock = ClockSettings(decides="wall", move_ms=10_000, bank_ms=10_000)
    plan = CheckPlan(MatchSettings("connect_four", {}, clock), check_draws(Secret.public("1")))

    steps: list[CheckStep] = [
        *check_bot(read_bot(alphabeta(tmp_path / "bot", change)), plan, Confinement(isolation="none", limits=Limits()))
    ]

    golden(steps[-1].title)
    assert [step.number for step in steps] == list(range(1, 11))
    assert steps[-1].verdict is verdict, steps[-1].detail
    assert re.fullmatch(sentence, steps[-1].detail)

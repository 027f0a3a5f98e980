"""A match as the player in a browser gets it: plain JSON, made from a replay that the rules confirm.

Rule: hidden information reaches a page by `Game.observe` only, and luck that no seat sees by its size only. The
secret, the seed and the seeds of bots stay here; notes and stderr go out only for the players named in `private`.
Names, actions and notes are data: `script` escapes them so that they cannot end the script they stand in.
"""

import zlib
from base64 import b64encode
from collections.abc import Collection, Iterator, Sequence
from functools import cache
from importlib.resources import files
from itertools import pairwise
from typing import Any, Final

import msgspec

from arena.games import load_game
from arena.games.api import (
    HEADING,
    Chance,
    Decision,
    Dice,
    Game,
    Json,
    Seat,
    Shuffle,
    filming_of,
    game_info_of,
    news_of,
    picture_with_names,
    points_of,
    points_unit_of,
    value_of,
    with_names,
)
from arena.games.looks import LOOKS, looks_of
from arena.match.judgement import Judgement
from arena.match.luck import SHOWN_FACES, LuckMeter, MatchLuck
from arena.match.record import ActionStep, ChanceStep, MatchRecord, SimulationStep
from arena.match.replay import ReplayStep, other_rules, replay
from arena.match.results import LUCK_UNIT, MatchResult, partners
from arena.report.transcript import recorded_text, result_line, step_text
from arena.site.data import Mark, MatchData, PlayerData, StepData, add_costs, add_faults, add_private, add_times

_STILL_BYTES: Final = 1_200_000
"""Bytes of all stills of a match, before compression to about a third; larger stills are fewer, evenly spread."""
_NAMED: Final = 4
"""The most players that a title names."""
_PLACES: Final = 4
"""Decimals of a value (expected payoff) and of luck."""


def match_data(
    record: MatchRecord,
    stored: MatchResult | None = None,
    private: Collection[str] = (),
    judgements: Sequence[Judgement] = (),
    *,
    league: Sequence[str] = (),
    has_motions: bool = True,
) -> dict[str, Any]:
    """Return the match as JSON values for `arena_data`; the fields are those of `MatchData`.

    `stored` gives the luck of a match that cannot be replayed. `has_motions`: simulations are made again, in as much
    time as they took. `judgements`: costs of decisions, by the first of several judges. `league`: the players of the
    league, which give the colours. CheckFailed if the record contradicts the rules.
    """
    other = other_rules(record)
    data = (
        _recorded_data(record, stored, other, league)
        if other
        else _DataBuilder(record, league, has_motions=has_motions).data()
    )
    if judgements:
        add_costs(data, *judgements)
    add_times(data, record)
    add_private(data, record, private)
    built: dict[str, Any] = msgspec.to_builtins(data)
    return built


def script(name: str, data: Json) -> str:
    """Return a classic script that calls `arena_data(name, data)`; it may stand in a file or a script element."""
    text = msgspec.json.encode([name, data]).decode()[1:-1]
    for char in "<>\u2028\u2029":
        text = text.replace(char, f"\\u{ord(char):04x}")
    return f"arena_data({text});\n"


@cache
def module_of(game: str) -> str:
    """Return the name of the game's drawing module among the assets; empty if there is none."""
    return game if (files("arena.site") / "assets" / f"{game}.js").is_file() else ""


class _DataBuilder:
    """A builder of the page data of one record."""

    def __init__(self, record: MatchRecord, league: Sequence[str], *, has_motions: bool) -> None:
        self._record, self._league = record, league
        self._has_motions = has_motions
        self._game: Game[Any, Any] = load_game(record.game)
        self._moments = list(replay(record))
        self._states = [self._game.setup(record.options, len(record.seats)), *map(_visible_position, self._moments)]
        self._luck = self._measure_luck()

    def data(self) -> MatchData:
        """Return the data of the match, without times and private text."""
        record = self._record
        steps = [self._start_data(), *map(self._step_data, range(1, len(self._states)), self._moments)]
        for earlier, step, moment in zip(steps, steps[1:], self._moments, strict=False):
            if not moment.is_complete:
                step.next = tuple(seat for seat in earlier.next if seat != step.seat)
        add_faults(steps, record)
        module, pictured = module_of(record.game), self._steps_with_stills()
        views = _index_values(steps, "view", map(self._view_of, self._states)) if module else []
        data = _make_data(record, steps, self._luck, self._league, self._motion_notice(), module)
        data.unit = points_unit_of(self._game)
        data.info = game_info_of(self._game, record.options, len(record.seats)) if module else {}
        data.stills = _compress(
            _index_values(steps, "still", (self._picture_of(self._states[number]) for number in pictured), pictured)
        )
        data.pictured = [] if len(pictured) == len(steps) else pictured
        data.views = _compress(views)
        data.motions = _compress(self._motions(steps) if module else [])
        return data

    def _motion_notice(self) -> str:
        """Return the sentence on movements that are left out; empty if none is."""
        has_simulations = any(isinstance(step, SimulationStep) for step in self._record.steps)
        if self._has_motions or not has_simulations or filming_of(self._game) is None:
            return ""
        return f"Simulations are shown without their movement here; `arena show {self._record.match} --open` has it."

    def _measure_luck(self) -> MatchLuck:
        """Measure the luck of each draw, as far as the game has a value."""
        meter = LuckMeter(self._game, len(self._record.seats))
        for number, moment in enumerate(self._moments):
            if moment.is_complete:
                meter.note_step(number, moment.before, moment.after, moment.step)
        return meter.luck()

    def _start_data(self) -> StepData:
        """Return the data of the start, before any step."""
        return self._fill_position(StepData("the start", kind="start"), self._states[0])

    def _step_data(self, number: int, moment: ReplayStep) -> StepData:
        """Return the data of a step (from 1) and of the position after it."""
        step = moment.step
        turn = self._game.turn(moment.before)
        drawn = _describe_draw(turn, step) if isinstance(turn, Chance) and isinstance(step, ChanceStep) else ""
        words = with_names(drawn or step_text(self._record, moment), self._record.players)
        text, _, detail = words.partition("; ")
        shown = StepData(text, detail, kind=_kind_of_step(step))
        if isinstance(step, ActionStep):
            shown.seat = step.seat
        else:
            shown.key = step.key
        if moment.is_complete:
            lines = news_of(self._game, moment.before, moment.after, self._record.players)
            news = [line for line in lines if not line.startswith(HEADING)]
            if news and not isinstance(step, ActionStep):
                shown.text, shown.detail = news.pop(0), "" if drawn else text
            shown.news = tuple(news)
        return self._fill_position(shown, self._states[number])

    def _fill_position(self, step: StepData, state: Any) -> StepData:
        """Fill in who is next, the round, value, points and stakes of `step`, by the position after it; return it."""
        turn, value = self._game.turn(state), value_of(self._game)
        step.next = tuple(turn.seats) if isinstance(turn, Decision) else ()
        step.round = int(self._view_of(state).get("round") or 0)
        step.value = () if value is None else _round(value(state))
        points = points_of(self._game, state)
        step.points = tuple(float(by_now) for by_now, _ in points)
        if any(by_now != then for by_now, then in points):
            step.stake = tuple(float(then - by_now) for by_now, then in points)
        return step

    def _view_of(self, state: Any) -> dict[str, Json]:
        """Return the position as seat 0 sees it without its `you`: nothing hidden except from the other seats."""
        return {name: entry for name, entry in self._game.observe(state, Seat(0)).items() if name != "you"}

    def _steps_with_stills(self) -> list[int]:
        """Return the steps that get a still: all, or the first, the last and others evenly between them.

        Their number follows from the size of the last one and the limit in bytes.
        """
        count, largest = len(self._states), len(self._picture_of(self._states[-1]))
        kept = max(2, min(count, _STILL_BYTES // max(1, largest)))
        return sorted({round(at * (count - 1) / (kept - 1)) for at in range(kept)}) if count > 1 else [0]

    def _picture_of(self, state: Any) -> str:
        """Return the picture of a position with the players' names and colours."""
        return picture_with_names(self._game, state, self._record.players, self._league)

    def _motions(self, steps: list[StepData]) -> list[Json]:
        """Return the movements of all simulations that can be made again here and come out as recorded.

        The `motion` of their steps becomes the index of their movement.
        """
        filming, motions = filming_of(self._game), list[Json]()
        if filming is None or not self._has_motions:
            return motions
        for step, moment in zip(steps[1:], self._moments, strict=True):
            if isinstance(moment.step, SimulationStep):
                motion = filming.frames(moment.before, moment.step.result)
                if motion is not None:
                    step.motion = len(motions)
                    motions.append(motion)
        return motions


def _describe_draw(turn: Chance, step: ChanceStep) -> str:
    """Describe a draw in words; its outcome only if everybody at the table sees it."""
    word = {Dice: "dice", Shuffle: "shuffled"}.get(type(turn.kind), "drawn")
    if not turn.is_public:
        return f"{word}, hidden"
    count = len(step.outcome)
    return f"{word}: {' '.join(map(str, step.outcome)) if count <= SHOWN_FACES else f'{count} items'}"


def _recorded_data(record: MatchRecord, stored: MatchResult | None, notice: str, league: Sequence[str]) -> MatchData:
    """Return a match by rules that are not available: its steps as recorded, without positions."""
    steps = [StepData("the start", kind="start")]
    for step in record.steps:
        text = f"chance {step.key}" if isinstance(step, ChanceStep) else recorded_text(step)  # it may be hidden luck
        shown = StepData(text, kind=_kind_of_step(step))
        if isinstance(step, ActionStep):
            shown.seat = step.seat
        steps.append(shown)
    add_faults(steps, record)
    by_seat = () if stored is None else tuple(seat_luck / LUCK_UNIT for seat_luck in stored.luck)
    luck = MatchLuck("" if stored is None else stored.luck_version, by_seat, ())
    return _make_data(record, steps, luck, league, notice)


def _make_data(
    record: MatchRecord,
    steps: list[StepData],
    luck: MatchLuck,
    league: Sequence[str],
    notice: str,
    module: str = "",
) -> MatchData:
    """Return the data that need no rules, and write the luck into `steps`; pictures are added later."""
    names, lead = record.players, _last_lead(steps, record)
    result = result_line(record).partition("  ")[2].replace("  ", ", ")  # without the id of the match
    return MatchData(
        id=record.match,
        game=record.game,
        title=f"{record.game}: {' v '.join(names) if len(names) <= _NAMED else f'{len(names)} players'}",
        result="; ".join([result, *(mark.text for mark in lead)]),
        module=module,
        players=_player_data(record, luck, league),
        others=partners(record.match, len(record.seats)),
        steps=steps,
        marks=[*lead, *_marks(steps, luck, record)],
        notice=notice,
    )


def _visible_position(moment: ReplayStep) -> Any:
    """Return the position to show after a step: a joint decision shows only when all its seats have decided."""
    return moment.after if moment.is_complete else moment.before


def _kind_of_step(step: Any) -> str:
    """Return `action`, `chance` or `simulation`."""
    return str(step.__struct_config__.tag)


def _index_values(
    steps: list[StepData], name: str, values: Iterator[Any], numbers: Sequence[int] | None = None
) -> list[Json]:
    """Collect `values`, one for each step of `numbers` (or of all), without repeats in a row.

    The field `name` of each step becomes the index of the latest value.
    """
    kept: list[Json] = []
    due_values = dict(zip(range(len(steps)) if numbers is None else numbers, values, strict=True))
    for number, step in enumerate(steps):
        if number in due_values and (not kept or kept[-1] != due_values[number]):
            kept.append(due_values[number])
        setattr(step, name, len(kept) - 1)
    return kept


def _compress(values: list[Json]) -> str:
    """Return the values as JSON, deflated, in base64; empty without values."""
    return b64encode(zlib.compress(msgspec.json.encode(values), 9)).decode() if values else ""


def _round(values: Sequence[float]) -> tuple[float, ...]:
    """Round values to 4 decimals, never to -0."""
    return tuple(round(value, _PLACES) + 0.0 for value in values)


def _player_data(record: MatchRecord, luck: MatchLuck, league: Sequence[str]) -> tuple[PlayerData, ...]:
    """Return the data of each player by seat, without what is private."""
    looks = [LOOKS[look] for look in looks_of(record.players, league)]
    return tuple(
        PlayerData(
            name=entry.player,
            bot=entry.bot[:8],
            colours=(look.light, look.dark),
            shape=look.shape,
            score="" if record.scores is None else str(record.scores[seat]),
            rank=record.ranks[seat],
            luck=round(luck.by_seat[seat], _PLACES) if luck.version else None,
            total_ms=entry.deciding_ms,
        )
        for seat, (entry, look) in enumerate(zip(record.seats, looks, strict=True))
    )


def _marks(steps: list[StepData], luck: MatchLuck, record: MatchRecord) -> list[Mark]:
    """Return marks of the luckiest draw, the largest swing of value and every fault; write luck into the steps."""
    marks: list[Mark] = []
    for node in luck.nodes:
        steps[node.step + 1].luck = _round(node.luck)
    if luck.nodes:
        luckiest = max(luck.nodes, key=lambda node: max(node.luck))
        seat = luckiest.luck.index(max(luckiest.luck))
        marks.append(Mark("luckiest draw", luckiest.step + 1, f"{record.players[seat]} {luckiest.luck[seat]:+.3f}"))
    swings = [_largest_change(earlier.value, later.value) for earlier, later in pairwise(steps)]
    if swings and any(swings):
        at = max(range(len(swings)), key=swings.__getitem__)
        marks.append(Mark("largest swing", at + 1, f"{swings[at]:.3f} of a win", swings[at]))
    return [*marks, *(Mark("fault", number, step.fault) for number, step in enumerate(steps) if step.fault)]


def _last_lead(steps: list[StepData], record: MatchRecord) -> list[Mark]:
    """Return the mark of the step from which the sole winner led to the end, in a list.

    Empty if they led from the start, if several won, or if the game has neither a value nor points.
    """
    leaders = [_leader(step.value or step.points) for step in steps]
    winners = [seat for seat, rank in enumerate(record.ranks) if rank == 0]
    behind = [number for number, leader in enumerate(leaders[:-1]) if [leader] != winners]
    if len(winners) > 1 or not behind or not any(leader is not None for leader in leaders):
        return []
    last, name = leaders[behind[-1]], record.players[winners[0]]
    step = steps[behind[-1] + 1]
    place = f"in round {step.round}" if step.round else f"at step {behind[-1] + 1}"
    text = f"{name} took the lead {place}" if last is None else f"{record.players[last]} lost the lead {place}"
    return [Mark("lead", behind[-1] + 1, text)]


def _leader(values: Sequence[float]) -> int | None:
    """Return the seat with the largest value; None if it is not alone."""
    best = [seat for seat, value in enumerate(values) if value == max(values)]
    return best[0] if len(best) == 1 else None


def _largest_change(before: Sequence[float], after: Sequence[float]) -> float:
    """Return the largest change of a value of any seat; 0 without values."""
    return max((abs(there - here) for here, there in zip(before, after, strict=True)), default=0.0)

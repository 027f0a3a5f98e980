"""`arena.load_match(ID)`: a stored match, reconstructed from its record."""

from collections.abc import Collection, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from arena.games import load_game
from arena.games.api import picture_with_names
from arena.library.table import Picture, Table
from arena.match.reconstruction import lines_of
from arena.match.record import ActionStep, MatchRecord
from arena.match.replay import ReplayStep, other_rules, replay
from arena.operations.read_match import ReadMatch, read_match
from arena.report.transcript import step_line, transcript
from arena.site.page import frame_page, match_page


class MatchPage(str):
    """A page that plays a match, as text; a notebook shows it."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        return frame_page(str(self), _HEIGHT_PX)


_HEIGHT_PX: Final = 1000


class Match:
    """A match that was played. `scores` is None where a fault ended it; `ranks` by seat from 0, the best.

    Players have the colours that they have in `league`, the names of its players.
    Steps, states and pictures come from a replay: CheckFailed if that is not possible here.
    """

    def __init__(self, record: MatchRecord, league: Sequence[str] = ()) -> None:
        self.record, self._league = record, league
        self.id, self.game, self.options = record.match, record.game, record.options
        self.players = record.players
        self.scores, self.ranks = record.scores, record.ranks
        self.termination = str(record.termination)

    def steps(self) -> Table:
        """Return the steps: number, seat and player (None for luck), the recorded action, its text, the bot's note."""
        return Table(
            map(self._step_row, range(1, len(self._moments) + 1), self._moments), columns=("step", "player", "text")
        )

    def state(self, step: int | None = None) -> Any:
        """Return the state after a step, from 1; 0 for the first state, None for the last; a state of `arena.game`.

        IndexError for a step that the match does not have.
        """
        number = len(self._moments) if step is None else step
        if not 0 <= number <= len(self._moments):
            raise IndexError(f"step {number}: the match has {len(self._moments)}")
        if not number:
            return load_game(self.game).setup(self.options, len(self.players))
        return self._moments[number - 1].after

    def picture(self, step: int | None = None) -> Picture:
        """Return the position after a step as an SVG document, which a notebook draws."""
        return Picture(picture_with_names(load_game(self.game), self.state(step), self.players, self._league))

    def player(self, *, private: Collection[str] = ()) -> MatchPage:
        """Return the match as a page that plays it: a notebook shows it, `str` of it is HTML for a file.

        Notes and stderr are shown of the players named in `private`.
        """
        return MatchPage(match_page(self.record, private=private, league=self._league))

    def dialogue(self) -> Table:
        """Return every line both ways: seat, player, number of the request, `>` to the bot or `<` from it, the line.

        CheckFailed if the lines cannot be made again.
        """
        return Table(
            {"seat": seat, "player": sent.player, "request": number, "way": way, "line": line.decode(errors="replace")}
            for seat, sent in enumerate(lines_of(self.record))
            for number, way, line in sent.lines
        )

    def __str__(self) -> str:
        return "\n".join(transcript(self.record, every_state=False))

    def __repr__(self) -> str:
        return f"<match {self.id}: {self.game}, {' v '.join(self.players)}, {self.termination}>"

    def _repr_svg_(self) -> str | None:
        return None if other_rules(self.record) else str(self.picture())

    @cached_property
    def _moments(self) -> tuple[ReplayStep, ...]:
        return tuple(replay(self.record))

    def _step_row(self, number: int, moment: ReplayStep) -> dict[str, Any]:
        """Return a step as a row of `steps`."""
        step = moment.step
        seat = step.seat if isinstance(step, ActionStep) else None
        return {
            "step": number,
            "seat": seat,
            "player": None if seat is None else self.players[seat],
            "action": step.action if isinstance(step, ActionStep) else None,
            "text": step_line(self.record, moment),
            "note": step.note if isinstance(step, ActionStep) else "",
        }


def load_match(match_id: str, *, results: str | Path = "results") -> Match:
    """Return the match of that id: a stored one, as `League.matches` lists it, or one of the last of `arena match`.

    SpecError if there is none.
    """
    match = read_match(ReadMatch(match=match_id, results=Path(results)))
    return Match(match.record, match.league)

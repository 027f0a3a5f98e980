"""Runs of a league in a results folder."""

import logging
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from arena.errors import DamagedStore, Interrupted
from arena.league.progress import LeagueProgress, round_title
from arena.league.schedule import Job, jobs
from arena.league.state import LeagueState, Replay
from arena.league.tournament import Tournament
from arena.match.columns import PlayedBlock
from arena.match.record import unpack
from arena.match.results import PlayedMatch
from arena.match.secret_luck import Secret
from arena.operations.leagues import league_table
from arena.process.limits import Isolation
from arena.store.bots import BotStore
from arena.store.matches import MatchStore
from arena.store.secrets import SecretKeeper
from arena.text import counted

LOGGED_FORFEITS: Final = 20
"""Of each player in a run: the first show what is wrong, and a bot that always forfeits must not fill the log."""
MOST_BLOCKS_NAMED: Final = 5
if TYPE_CHECKING:
    from arena.league.driver import Backend, BlocksLost
    from arena.standings.table import Standings, Timing

log: Final = logging.getLogger("arena.league")


def publish(store: MatchStore, state: LeagueState) -> "tuple[Standings, tuple[Timing, ...]]":
    """Compute the table of a league, and store the standings for `verify`."""
    from arena.standings.table import standings_json  # noqa: PLC0415 - see above

    standings, use = league_table(store, state)
    store.save_standings(state.tournament.name, standings_json(standings))
    return standings, use


def installed(tournament: Tournament, bots: BotStore) -> Tournament:
    """The tournament with the installed copies of its bots, which nobody edits."""
    players = tuple(replace(each, bot=bots.install(each.bot)) for each in tournament.players)
    return replace(tournament, players=players)


def begin_league(
    store: MatchStore,
    results: Path,
    tournament: Tournament,
    given: Secret | None,
    is_open: Callable[[Tournament], bool],
) -> tuple[Tournament, Secret | None]:
    """Store the tournament under the commitments of its luck; the secret of new blocks, None if there will be none.

    `is_open` tells whether the league of that tournament has blocks left to draw.
    """
    tournament, secret = SecretKeeper(store, results).settle(tournament, given, is_open)
    store.save_league(tournament)
    return tournament, secret


class LeagueRun:
    """One run of a league: plays all that is left of it and stores each block as it ends."""

    def __init__(self, store: MatchStore, replay: Replay, secret: Secret | None, isolation: Isolation) -> None:
        self.name = replay.tournament.name
        self._store, self._replay, self._secret, self._isolation = store, replay, secret, isolation
        state = replay.state
        self._forfeits = Counter[str]()
        forfeits = sum(int(column.sum()) for column in store.sums(state.blocks, state.ranks).faults.values())
        self.progress = LeagueProgress(state, forfeits)

    @property
    def state(self) -> LeagueState:
        """The state by now."""
        return self._replay.state

    def play(self, backend: "Backend", tick: Callable[[], None] = lambda: None) -> "BlocksLost | None":
        """Play what is left; the blocks that could not be played, if there are any, when all others are stored.

        `tick` is called about twice a second. Interrupted by Ctrl-C, the same call continues.
        """
        from arena.league.driver import BlocksLost, play_jobs  # noqa: PLC0415 - pages start no bots

        log.info("%s: %d of %s matches are there", self.name, self.progress.done, self.progress.whole)
        lost: BlocksLost | None = None

        def report(finished: int) -> None:
            self.progress.finished = finished
            tick()

        try:
            play_jobs(self._rounds(), backend, commit=self._commit, tick=report)
        except KeyboardInterrupt:
            self._log_end("interrupted")
            raise Interrupted(
                f"interrupted with {self.progress.done} of {self.progress.whole} matches stored; the same command"
                " continues"
            ) from None
        except BlocksLost as error:
            lost = BlocksLost(f"{error}; everything else is stored, and the same command tries them again")
        self._log_end("done" if lost is None else "incomplete")
        return lost

    def _commit(self, blocks: list[PlayedBlock]) -> None:
        self._store.save(blocks)
        self._replay.add(blocks)
        for block in blocks:
            if block.forfeits:
                for match in block.matches:
                    self._log_forfeit(match)
        self.progress.played(blocks)

    def _rounds(self) -> Iterator[Iterator[Job]]:
        """Yield what is left of each round; a round is known when all before it is stored."""
        while True:
            state = self.state
            self.progress.begin(state)
            left = jobs(state.tournament, state.finished, self._isolation, of=state.rounds[-1], secret=self._secret)
            first = next(left, None)
            if first is None:
                return
            log.info("%s: %s", self.name, round_title(state.rounds[-1]))
            yield chain((first,), left)

    def _log_forfeit(self, match: PlayedMatch) -> None:
        """Count the forfeit of a match by player, and log the first of each."""
        one = match.result
        if one.at_fault is None:
            return
        guilty = one.players[one.at_fault]
        self._forfeits[guilty] += 1
        fault = unpack(match.record).fault if self._forfeits[guilty] <= LOGGED_FORFEITS else None
        if fault is not None:
            log.info("%s: %s forfeits (%s): %s", one.key, guilty, one.termination, fault.message)

    def _log_end(self, how: str) -> None:
        for player, count in sorted(self._forfeits.items()):
            shown = f", the first {LOGGED_FORFEITS} are above" if count > LOGGED_FORFEITS else ""
            log.info("%s: %s by %s in this run%s", self.name, counted(count, "forfeit"), player, shown)
        log.info("%s: %s, %s", self.name, how, self.progress.words())


def require_whole_blocks(state: LeagueState) -> None:
    """DamagedStore if a match of a stored block is missing: no run plays such a block again."""
    if state.is_complete or not state.torn:
        return
    named = [f"{pairing.key} block {block} ({' v '.join(pairing.names)})" for pairing, block in state.torn]
    if named[MOST_BLOCKS_NAMED:]:
        named[MOST_BLOCKS_NAMED:] = [f"and {len(named) - MOST_BLOCKS_NAMED} more"]
    listed = "; ".join(named)
    raise DamagedStore(
        f"league {state.tournament.name}: matches are missing of {counted(len(state.torn), 'stored block')}: {listed}."
        " A block is stored as a whole and never played twice, so the league cannot be completed from these results:"
        " run `arena verify`, and go on with a sound copy of them"
    )

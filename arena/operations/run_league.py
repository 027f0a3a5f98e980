"""A run of a league: plays the remaining blocks of a tournament, and stores each as it ends.

Rule: a match that was played is dropped only if the request allows it. A league that has begun goes on with the
bots it began with, unless it asks for new ones.
"""

import logging
from collections import Counter
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec
from msgspec.structs import replace

from arena.bundled import find_tournament
from arena.doctor.machine import doubt_of_wall_time
from arena.errors import ArenaError, DamagedStore, Interrupted, SpecError
from arena.league.driver import Backend, BlocksLost, LocalBackend, play_jobs
from arena.league.progress import RunProgress, round_title, whole_text
from arena.league.schedule import Job, jobs
from arena.league.state import LeagueState, ScheduleRunner, state_of
from arena.league.tournament import (
    KeepBot,
    Tournament,
    largest_limits,
    luck_origin,
    read_tournament,
    wall_time_players,
    without_machine_settings,
)
from arena.league.update import DroppedMatches, count_dropped_matches, describe_changes
from arena.match.columns import PlayedBlock
from arena.match.record import unpack
from arena.match.results import MatchResult
from arena.match.secret_luck import LuckOrigin, Secret
from arena.operations.events import Counted, Event, OnEvent, Warned, ignore
from arena.operations.leagues import (
    KeptVersion,
    Schedules,
    VersionKeeper,
    begin_league,
    best_players,
    is_known,
    league_table,
    publish,
    with_installed_bots,
    with_stored_commitments,
)
from arena.operations.playing import (
    BotRequest,
    ClusterChoice,
    WorkerCount,
    backend_of,
    local_workers,
    prepare_isolation,
)
from arena.process.limits import Isolation
from arena.report.formats import escape
from arena.store import database, files
from arena.store.folder import open_store, open_store_for_writing
from arena.store.history import Head
from arena.store.matches import MatchStore
from arena.text import counted

if TYPE_CHECKING:
    from arena.standings.table import Standings, Timing

LOGGED_FORFEITS: Final = 20
"""The most forfeits of a player that a run logs: a bot that always forfeits must not fill the log."""
MOST_BLOCKS_NAMED: Final = 5
log: Final = logging.getLogger("arena.league")


class RunLeague(BotRequest, frozen=True, kw_only=True):
    """A run of `tournament`, a file or a name. `workers`: matches at once; None for the file's, or all cores.

    `update` takes new versions of bots and a changed tournament. Then `may_drop` stored matches may be dropped because
    they do not belong to it any more; None allows any number. `secret` repeats the luck of another run.
    """

    tournament: str
    workers: WorkerCount | None = None
    cluster: ClusterChoice = ClusterChoice()
    update: bool = False
    may_drop: int | None = 0
    secret: Secret | None = None


class VersionsKept(Event, frozen=True):
    """Players of a league go on with the versions with which it began, though there are newer ones."""

    league: str
    versions: tuple[KeptVersion, ...]


class LeagueBegins(Event, frozen=True):
    """The results are open for writing, and the first match is about to begin. `luck` is the origin of new luck."""

    league: str
    luck: LuckOrigin


class MatchesDropped(Event, frozen=True):
    """A change of the tournament drops stored matches from the league."""

    league: str
    changes: tuple[str, ...]
    dropped: DroppedMatches


class VersionsChanged(Event, frozen=True):
    """Submitted bots have new versions, or came or left: so many stored matches belong to the history only."""

    league: str
    changes: tuple[str, ...]
    matches: int


class LeagueOutcome(msgspec.Struct, frozen=True):
    """The league after a run. `failure` is the reason why it is incomplete: void blocks, or missing matches."""

    standings: "Standings"
    timing: "tuple[Timing, ...]"
    news: tuple[str, ...]
    history: Head
    failure: ArenaError | None


class TournamentUpdate(msgspec.Struct, frozen=True):
    """A tournament compared with the stored league of its name. `dropped` is None if that has not begun."""

    tournament: Tournament
    changes: tuple[str, ...] = ()
    dropped: DroppedMatches | None = None


def run_league(request: RunLeague, on: OnEvent = ignore) -> LeagueOutcome:
    """Play the remaining matches of a league, publish its standings and write its tables.

    Raises Interrupted at a KeyboardInterrupt, after the tables are written; the same request continues.

    SpecError if stored matches would be dropped that the request does not allow to drop.
    """
    bots, results = request.bot_store(), request.results
    tournament, kept = tournament_of(request)
    cluster = request.cluster.select(tournament.cluster, request.workers)
    count = 1 if cluster else local_slots(request, tournament, on)
    backend = backend_of(cluster, tournament, bots, request.isolation, LocalBackend(count), on)
    prepare_isolation(request.isolation, tournament.game)
    with open_store_for_writing(results) as store:
        tournament, schedules = with_installed_bots(tournament, bots), Schedules(store)
        _require_none_dropped(store, schedules, tournament, request, on)
        if kept:
            on(VersionsKept(tournament.name, kept))
        tournament, secret = begin_league(
            store, results, tournament, request.secret, lambda known: not schedules.runner_of(known).state.is_complete
        )
        on(LeagueBegins(tournament.name, luck_origin(tournament)))
        if cluster is None and (doubt := doubt_of_wall_time(wall_time_players(tournament), count)):
            on(Warned(doubt))
        run = LeagueRun(store, schedules.runner_of(tournament), secret, request.isolation)
        try:
            lost = run.play(backend, on)
        except Interrupted:
            _write_leaderboard(league_table(store, run.state), run.state, results)
            raise
        table = publish(store, run.state)
        _write_leaderboard(table, run.state, results)
        return LeagueOutcome(*table, run.state.news, store.head(), torn_blocks(run.state) or lost)


def preview_update(request: RunLeague) -> TournamentUpdate:
    """Compare the tournament with the stored league, without playing or storing anything. Raises DamagedStore."""
    tournament, _ = tournament_of(request)
    if not is_known(request.results, tournament.name):
        return TournamentUpdate(tournament)
    with open_store(request.results) as store:
        former = store.league(tournament.name)
        now = state_of(with_stored_commitments(store, tournament), store.ranks)
        dropped = count_dropped_matches(state_of(former, store.ranks), now)
        return TournamentUpdate(tournament, tuple(describe_changes(former, tournament)), dropped)


def tournament_of(request: RunLeague) -> tuple[Tournament, tuple[KeptVersion, ...]]:
    """Read the tournament, with the bots with which its league began; return it, and those with newer versions.

    With `update` in the request, the bots are the current ones, and none has a newer version.
    """
    bots = request.bot_store()
    keeper = VersionKeeper(bots, request.results)
    keep: KeepBot = (lambda _league, _entry, bot: bot) if request.update else keeper
    path = find_tournament(request.tournament)
    tournament = read_tournament(
        path, bots.find, keep, bots.hand_ins, lambda finalists: best_players(request.results, finalists)
    )
    return tournament, (*keeper.kept,)


def local_slots(request: RunLeague, tournament: Tournament, on: OnEvent = ignore) -> int:
    """Return the number of matches to play at once on this machine; events and errors are those of `local_workers`."""
    return local_workers(request.workers or tournament.workers, largest_limits(tournament), on)


class LeagueRun:
    """A run of a league, which plays the remaining matches and stores each block as it ends."""

    def __init__(self, store: MatchStore, runner: ScheduleRunner, secret: Secret | None, isolation: Isolation) -> None:
        self.name = runner.tournament.name
        self._store, self._runner, self._secret, self._isolation = store, runner, secret, isolation
        state = runner.state
        self._forfeits = Counter[str]()
        forfeits = store.forfeits(state.blocks)
        self.progress = RunProgress(total=state.scheduled, done=state.stored, forfeits=forfeits)

    @property
    def state(self) -> LeagueState:
        """The state of the league, with all blocks stored so far."""
        return self._runner.state

    def play(self, backend: Backend, on: OnEvent = ignore) -> BlocksLost | None:
        """Play the remaining blocks; return BlocksLost if some could not be played, after all others are stored.

        About twice a second the progress is an event. Interrupted by a KeyboardInterrupt; the same call continues.
        """
        progress, whole = self.progress, whole_text(self.state.tournament)
        log.info("%s: %d of %s matches are there", self.name, progress.done, whole)
        lost: BlocksLost | None = None

        def report(finished: int) -> None:
            progress.finished = finished
            on(Counted.of(progress.counts))

        try:
            play_jobs(self._jobs_by_round(), backend, commit=self._commit, tick=report)
        except KeyboardInterrupt:
            self._log_end("interrupted")
            raise Interrupted(
                f"interrupted with {progress.done} of {whole} matches stored; the same command continues"
            ) from None
        except BlocksLost as error:
            lost = BlocksLost(f"{error}; everything else is stored, and the same command tries them again")
        finally:
            on(Counted.of(progress.counts))
        self._log_end("done" if lost is None else "incomplete")
        return lost

    def _commit(self, blocks: list[PlayedBlock]) -> None:
        """Store blocks, tell the schedule of them, and log their forfeits."""
        self._store.save(blocks)
        self._runner.add(blocks)
        for block in blocks:
            if block.forfeits:
                for match in block.results:
                    self._log_forfeit(match)
        self.progress.add_blocks(blocks)

    def _jobs_by_round(self) -> Iterator[Iterator[Job]]:
        """Yield the remaining jobs of each round; a round is known when all before it are stored."""
        while True:
            state = self.state
            self.progress.begin(state)
            todo = jobs(state.tournament, state.finished, self._isolation, round_=state.rounds[-1], secret=self._secret)
            first = next(todo, None)
            if first is None:
                return
            log.info("%s: %s", self.name, round_title(state.rounds[-1]))
            yield chain((first,), todo)

    def _log_forfeit(self, match: MatchResult) -> None:
        """Count the forfeit of a match by player, and log it with its reason if it is one of the first 20."""
        if match.at_fault is None:
            return
        guilty = match.players[match.at_fault]
        self._forfeits[guilty] += 1
        fault = unpack(match.record).fault if self._forfeits[guilty] <= LOGGED_FORFEITS else None
        if fault is not None:
            log.info("%s: %s forfeits (%s): %s", match.key, guilty, match.termination, fault.message)

    def _log_end(self, how: str) -> None:
        """Log the forfeits of this run by player, and how it ended."""
        for player, count in sorted(self._forfeits.items()):
            shown = f", the first {LOGGED_FORFEITS} are above" if count > LOGGED_FORFEITS else ""
            log.info("%s: %s by %s in this run%s", self.name, counted(count, "forfeit"), player, shown)
        log.info("%s: %s, %s", self.name, how, self.progress.counts.words())


def torn_blocks(state: LeagueState) -> DamagedStore | None:
    """Return, not raise, the error of stored blocks that lack a match: no run plays such a block again.

    None without any, and in a complete league.
    """
    if state.is_complete or not state.torn:
        return None
    named = [f"{pairing.key} block {block} ({' v '.join(pairing.names)})" for pairing, block in state.torn]
    if named[MOST_BLOCKS_NAMED:]:
        named[MOST_BLOCKS_NAMED:] = [f"and {len(named) - MOST_BLOCKS_NAMED} more"]
    return DamagedStore(
        f"league {state.tournament.name}: matches are missing of {counted(len(state.torn), 'stored block')}:"
        f" {'; '.join(named)}. A block is stored as a whole and never played twice, so the league cannot be completed"
        " from these results: run `arena verify`, and go on with a sound copy of them"
    )


def _require_none_dropped(
    store: MatchStore, schedules: Schedules, tournament: Tournament, request: RunLeague, on: OnEvent
) -> None:
    """Raise SpecError if stored matches would be dropped that the request does not allow to drop.

    What is allowed is an event: dropped matches, changed versions, or a damaged league that is stored anew.
    """
    if tournament.name not in store.leagues():
        return
    try:
        former = store.league(tournament.name)
    except DamagedStore as error:
        on(Warned(f"{error}; it is stored anew from the file"))
        return
    begun = with_stored_commitments(store, tournament)
    if msgspec.json.encode(without_machine_settings(begun)) == msgspec.json.encode(former):
        return
    changes = tuple(describe_changes(former, begun))
    lost = count_dropped_matches(state_of(former, store.ranks), schedules.runner_of(begun).state)
    alike = replace(without_machine_settings(begun), players=former.players, takes_new=former.takes_new)
    if begun.takes_new and alike == former:  # the matches of former versions stay in the history
        on(VersionsChanged(tournament.name, changes, lost.dropped))
        return
    if not lost.dropped:
        return
    if not request.update or (request.may_drop is not None and lost.dropped > request.may_drop):
        matches = counted(lost.dropped, "match does", "matches do")
        raise SpecError(
            f"league {tournament.name}: {', '.join(changes)}: {matches} not belong to it any"
            f" more, of {lost.stored} that are stored. `--update` takes the change, `--update --plan` only says"
            " what it drops; or undo the change, or give the league another name"
        )
    on(MatchesDropped(tournament.name, tuple(describe_changes(former, tournament)), lost))


def _write_leaderboard(table: "tuple[Standings, tuple[Timing, ...]]", state: LeagueState, results: Path) -> None:
    """Write `tables/LEAGUE.md` and `.csv` for people, which arena never reads. MachineFault without room."""
    from arena.report.leaderboard import leaderboard_page  # noqa: PLC0415 - numpy is for this page only

    page, name = leaderboard_page(*table, state.news), state.tournament.name
    texts = {".md": f"# {escape(name)}\n\n{page.render('markdown')}", ".csv": page.render("csv")}
    try:
        files.make_folder(results, "tables")
        for suffix, text in texts.items():
            files.replace_plain(results, f"tables/{name}{suffix}", f"{text.rstrip()}\n")
    except OSError as error:
        raise database.unwritable(results / "tables", error) from None

"""A tournament file -> a `Tournament`, the value everything else is computed from.

Rule: the file is read strictly; what it leaves out has a default that is written here and nowhere else.
"""

import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Annotated, Any, Final, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

from arena.errors import SpecError
from arena.games import family_names, known_names, load_game, plugin_package
from arena.league.openings import Openings, take_openings
from arena.league.schedules.settings import MOST_BLOCKS, Count, RoundRobin, Schedule, with_defaults
from arena.match.secret_luck import LuckOrigin, Secret
from arena.match.settings import ClockSettings, KeptStderr, MatchSettings
from arena.plugins import Package
from arena.process.limits import Limits, negotiate
from arena.process.manifest import BotSpec, CommandWord, Name, single_line_rule
from arena.standings.ratings import RatingSettings, validate
from arena.text import describe_range, join_words, printable, unknown
from arena.yaml_file import read_yaml

FORMAT: Final = "arena-fixture/2"
TOURNAMENT_FILE_LIMIT: Final = 256 << 10
"""Bytes of a tournament file: thousands of players fit in."""
log: Final = logging.getLogger("arena.league")
DEFAULT_SEATS: Final = 2
"""Seats of a match by default, and so matches of a block: one for each rotation of the players."""
_MOST_PLAYERS: Final = 10_000
_MOST_IN_CYCLES: Final = 1000
"""The most players of a tournament; fewer where everybody meets everybody, half a million pairings."""


_StoredName = Annotated[str, single_line_rule(200)]
"""The name of a league or player; arena joins it from names and versions of bots where the user gives none."""


class PlayerEntry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An entry of `players`: `bot` is a bot's name, `name@hash` or path; `name` what the table calls the player.

    Or `submitted`: a pattern such as `*` for the names of submitted bots, of each of which the newest version plays.
    """

    bot: str = ""
    submitted: str = ""
    name: Name | None = None
    arguments: Annotated[tuple[CommandWord, ...], Meta(max_length=256)] = ()


class Finalists(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The `top` players of the standings of the league `of`, with the versions that played there."""

    top: Annotated[int, Meta(ge=2)]
    of: str


class ClusterSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The cluster that plays, in `cluster:` of a tournament or as options of a command.

    `address`: `tls://HOST:PORT`, or `local:N` for N workers on this machine; or a `scheduler_file` that a dask
    scheduler has written. The TLS files are PEM.
    """

    address: str = ""
    scheduler_file: str = ""
    tls_ca: str = ""
    tls_cert: str = ""
    tls_key: str = ""


class LeagueSettings(msgspec.Struct, frozen=True, kw_only=True):
    """The keys of a tournament file that a `Tournament` has as they stand there: each is declared here, once.

    `seats`: players at a table. `chunk_blocks`: the blocks of a pairing that one worker plays in a row with the same
    bot processes. `luck`: whether the luck of each match is measured and stored, where the game has a value. `stderr`:
    `keep` stores what bots write there with each match, `limits: stderr_bytes` of each bot. No match goes otherwise for
    either. `cluster`: the machines that play, in place of `workers` here.
    """

    name: _StoredName
    game: str
    options: dict[str, Any] = {}
    seats: Annotated[int, Meta(ge=1)] = DEFAULT_SEATS
    chunk_blocks: Count = 20
    clock: ClockSettings = ClockSettings()
    limits: Limits = Limits()
    workers: Annotated[int, Meta(ge=1, le=1024)] | None = None
    cluster: ClusterSettings | UnsetType = UNSET
    rating: RatingSettings = RatingSettings()
    luck: bool = True
    stderr: KeptStderr = "faults"


class TournamentFile(LeagueSettings, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The keys of a file in tournaments/.

    `opens`, `deadline`, `closes`: times, with their zones, from which and until which a submitted bot must have been
    handed in to play. A tournament gets a new `deadline` for a later run, and has one time at which it closes.
    `players: submitted` stands for `[{submitted: "*"}]`, `{top: 8, of: course}` for the best of another league.
    `schedule`: who meets whom; what it leaves out is written beside its settings. `cycles` or `blocks_per_pairing` (the
    same number: a cycle plays one block of every pairing) for the schedules that have cycles. `seed`: a public seed,
    from which anybody can compute all luck; without it the league draws a secret.
    """

    name: Name
    players: tuple[PlayerEntry, ...] | Literal["submitted"] | Finalists
    seed: int | str | None = None
    schedule: Schedule = RoundRobin()
    cycles: Count | None = None
    blocks_per_pairing: Count | None = None
    description: str = ""
    opens: Annotated[datetime, Meta(tz=True)] | None = None
    deadline: Annotated[datetime, Meta(tz=True)] | None = None
    closes: Annotated[datetime, Meta(tz=True)] | None = None

    def lateness(self, at: datetime) -> str:
        """Return why a hand-in at that time does not play: before `opens`, after `closes` or `deadline`; else empty."""
        if self.opens is not None and at < self.opens:
            return "before hand-ins are open"
        if self.closes is not None and at > self.closes:
            return "after hand-ins are closed"
        return "after the deadline" if self.deadline is not None and at > self.deadline else ""

    @property
    def entries(self) -> tuple[PlayerEntry, ...]:
        """The entries of `players`; none yet of another league."""
        if isinstance(self.players, tuple):
            return self.players
        return (PlayerEntry(submitted="*"),) if self.players == "submitted" else ()


class Player(msgspec.Struct, frozen=True):
    """A bot with its arguments in one tournament, under the name the table shows."""

    name: _StoredName
    bot: BotSpec
    arguments: tuple[str, ...] = ()


class Tournament(LeagueSettings, frozen=True, kw_only=True):
    """A league to be played. `players` in the order of the file.

    `cycles` blocks for every pairing before the schedule looks at results; 0 for a schedule without cycles. `schedule`
    has its defaults filled in.

    `seed` is a public seed. Without one luck is secret, and `commitments` are those of its secrets: under the first one
    the league was begun, under the last one it draws new blocks. `rules` is the version of the game's rules, empty for
    that of this program; `format` that of the pairings' identity. `package` is that of a game which does not come with
    arena. With `takes_new` there are submitted bots among the players: each run takes their newest versions.
    `book` has the openings of matches; it is stored beside the league.
    """

    players: tuple[Player, ...]
    seed: str | None
    cycles: Annotated[int, Meta(ge=0, le=MOST_BLOCKS)]
    schedule: Schedule = RoundRobin()
    commitments: tuple[str, ...] = ()
    rules: str = ""
    format: str = FORMAT
    package: Package | UnsetType = UNSET
    takes_new: bool = False
    book: Openings | UnsetType = UNSET

    @property
    def settings(self) -> MatchSettings:
        """The settings that all matches have in common."""
        return MatchSettings(self.game, self.options, self.clock, self.limits, self.stderr)


def public_secret(tournament: Tournament) -> Secret | None:
    """Return the secret of the public seed; None where luck is secret."""
    return None if tournament.seed is None else Secret.public(tournament.seed)


def largest_limits(tournament: Tournament) -> list[Limits]:
    """Return the limits of those bots that may use most memory, as many as a match has seats."""
    manifests, startup_ms = [player.bot.manifest for player in tournament.players], tournament.clock.startup_ms
    limits = [
        negotiate(bot.limits, tournament.limits, processes=bot.processes, startup_ms=startup_ms) for bot in manifests
    ]
    return sorted(limits, key=lambda bot: (bot.memory_mib, bot.tasks))[-tournament.seats :]


def wall_time_players(tournament: Tournament) -> tuple[str, ...]:
    """Return the players for whom wall time decides: all, or those whose bots start processes of their own."""
    is_for_all = tournament.clock.decides == "wall"
    return tuple(player.name for player in tournament.players if is_for_all or player.bot.manifest.processes)


def wall_time_news(tournament: Tournament) -> list[str]:
    """Return the sentence that names the players for whom wall time decides, if there are any."""
    names = [printable(name) for name in wall_time_players(tournament)]
    if not names:
        return []
    who = "all" if len(names) == len(tournament.players) else join_words(names)
    return [f"wall time decides for {who}, so that the load of the machine counts"]


def luck_origin(tournament: Tournament) -> LuckOrigin:
    """Return the commitments to all luck of the tournament, and its public seed."""
    secret = public_secret(tournament)
    if secret is None:
        return LuckOrigin(tournament.commitments)
    return LuckOrigin((secret.commitment,), secret.seed)


KeepBot = Callable[[str, PlayerEntry, BotSpec], BotSpec]
"""Gets the name of a league, an entry of its players and the bot that it names today; returns the bot that plays."""


ReadSubmissions = Callable[[], Iterable[tuple[datetime, str, str]]]
"""Returns the hand-ins of submitted bots in their order: time, name and hash."""


def read_tournament(
    path: Path,
    find_bot: Callable[[str], BotSpec],
    keep: KeepBot = lambda _league, _entry, bot: bot,
    submitted: ReadSubmissions = lambda: (),
    best: Callable[[Finalists], Iterable[PlayerEntry]] = lambda _: (),
) -> Tournament:
    """Read the tournament in the file at `path`; `find_bot` resolves what `players[i].bot` says.

    `keep` may put the version with which a league began in the place of today's. `submitted` returns the
    submitted bots; `best` the best players of another league. SpecError names the file and the key.
    """
    file = read_yaml(path, TournamentFile, limit=TOURNAMENT_FILE_LIMIT)
    try:
        finalists = best(file.players) if isinstance(file.players, Finalists) else ()
        entries = (*finalists, *_expand_entries(file, find_bot, submitted))
        options, book = take_openings(file.game, file.options, path.parent)
        file = msgspec.structs.replace(file, options=options)
        return _tournament_of(file, book, entries, lambda entry: keep(file.name, entry, find_bot(entry.bot)))
    except SpecError as error:
        raise SpecError(f"{path}: {error}") from None


def _expand_entries(
    file: TournamentFile, find_bot: Callable[[str], BotSpec], submitted: ReadSubmissions
) -> Iterator[PlayerEntry]:
    """Yield the entries of a file, with one for each submitted bot of the game in the place of a pattern.

    A bot that another entry names plays once. Late bots and those of other games are left out with a logged warning.
    SpecError, at `players[index]`, for an entry without a bot.
    """
    taken = {entry.name or entry.bot for entry in file.entries if entry.bot}
    hand_ins = (*submitted(),)
    for index, entry in enumerate(file.entries):
        if not entry.bot and not entry.submitted:
            raise SpecError(f'players[{index}]: the key "bot" is missing')
        if entry.submitted and (entry.bot or entry.name):
            raise SpecError(f"players[{index}]: `submitted` goes without `bot` and `name`")
        if entry.bot:
            yield entry
            continue
        in_time = {name: digest for at, name, digest in hand_ins if not file.lateness(at)}
        for name, (newest, at) in sorted({name: (digest, at) for at, name, digest in hand_ins}.items()):
            if name in taken or not fnmatchcase(name, entry.submitted):
                continue
            if (digest := in_time.get(name, "")) != newest:
                plays = f"{name}@{digest[:8]} plays" if digest else "it does not play"
                log.warning("%s@%s was handed in %s; %s", name, newest[:8], file.lateness(at), plays)
            if not digest:
                continue
            try:
                require_game(find_bot(f"{name}@{digest}"), file.game)
            except SpecError as error:
                log.warning("%s does not play in %s: %s", name, file.name, error)
                continue
            taken.add(name)
            yield PlayerEntry(bot=f"{name}@{digest}", name=name, arguments=entry.arguments)


def without_machine_settings(tournament: Tournament) -> Tournament:
    """Return the tournament without its book and what belongs to one machine: where bots lie, workers that play."""
    players = tuple(
        msgspec.structs.replace(player, bot=msgspec.structs.replace(player.bot, source="", folder="", given=""))
        for player in tournament.players
    )
    return msgspec.structs.replace(tournament, players=players, workers=None, cluster=UNSET, book=UNSET)


def _tournament_of(
    file: TournamentFile,
    book: Openings | UnsetType,
    entries: Sequence[PlayerEntry],
    bot_of: Callable[[PlayerEntry], BotSpec],
) -> Tournament:
    """Return the tournament of a file, with its defaults filled in. SpecError names the key that is wrong."""
    require_table(file)
    if file.cycles is not None and file.blocks_per_pairing is not None:
        raise SpecError("give either cycles or blocks_per_pairing, and only one of them")
    players = tuple(_player_of(index, entry, file, bot_of) for index, entry in enumerate(entries))
    cycles = file.cycles or file.blocks_per_pairing
    schedule = _schedule_of(file, players, file.schedule, cycles)
    taken_over: dict[str, Any] = {key: getattr(file, key) for key in LeagueSettings.__struct_fields__}
    return Tournament(
        players=players,
        seed=None if file.seed is None else str(file.seed),
        cycles=cycles or 0,
        rules=load_game(file.game).rules_version,
        package=plugin_package(file.game) or UNSET,
        book=book,
        takes_new=any(entry.submitted for entry in file.entries),
        schedule=schedule,
        **taken_over,
    )


def decode_tournament(text: bytes) -> Tournament:
    """Decode a stored tournament. MsgspecError or SpecError if no file can have given it."""
    tournament = msgspec.json.decode(text, type=Tournament)
    _schedule_of(tournament, tournament.players, tournament.schedule, tournament.cycles or None)
    return tournament


def _schedule_of(
    settings: LeagueSettings, players: tuple[Player, ...], schedule: Schedule, cycles: int | None
) -> Schedule:
    """Return the schedule with its defaults. SpecError if these players cannot play it or be rated."""
    seats = settings.seats
    if len(players) < seats:
        what = "a tournament needs" if seats == DEFAULT_SEATS else f"tables of {seats} seats need"
        raise SpecError(f"players: found {len(players)}, {what} at least {seats}")
    if len(players) > (most := _MOST_PLAYERS if cycles is None else _MOST_IN_CYCLES):
        raise SpecError(f"players: found {len(players)}, expected at most {most}; swiss and knockout take more")
    _check_names(players)
    names = [player.name for player in players]
    validate(settings.rating, names)
    return with_defaults(schedule, players=names, seats=seats, cycles=cycles)


def require_table(file: TournamentFile) -> None:
    """Raise SpecError if the game is for other numbers of players, or has other options."""
    counts = load_game(file.game).seat_counts
    if file.seats not in counts:
        expected = f"{file.game} is for {describe_range(counts)} players: write `seats: {counts[0]}`"
        raise SpecError(f"seats: found {file.seats}, {expected}")
    load_game(file.game).setup(file.options, file.seats)


def _player_of(
    index: int, entry: PlayerEntry, file: TournamentFile, bot_of: Callable[[PlayerEntry], BotSpec]
) -> Player:
    """Return the player of an entry. SpecError, at `players[index].bot`, without a bot, or if its limits do not fit."""
    try:
        bot = bot_of(entry)
        _check_limits(bot, file)
    except SpecError as error:
        raise SpecError(f"players[{index}].bot: {error}") from None
    return Player(name=entry.name or bot.name, bot=bot, arguments=entry.arguments)


def require_game(bot: BotSpec, game: str) -> None:
    """Raise SpecError if the bot's manifest names other games only; the prefix of a family means all its games."""
    games = bot.manifest.games
    if games and not {game, game.partition(":")[0], load_game(game).name} & {*games}:
        known = [*known_names(), *family_names()]
        odd = [name for name in games if name not in known]
        doubt = f"; {unknown('game', odd[0], known)}" if odd else ""
        raise SpecError(f"{bot.name} plays {', '.join(games)}, not {game}{doubt}")


def _check_limits(bot: BotSpec, file: TournamentFile) -> None:
    """Raise SpecError if the bot plays other games, or asks for more than the tournament allows."""
    require_game(bot, file.game)
    manifest = bot.manifest
    try:
        negotiate(manifest.limits, file.limits, processes=manifest.processes, startup_ms=file.clock.startup_ms)
    except SpecError as error:
        raise SpecError(f"{bot.name}: {error}") from None


def _check_names(players: tuple[Player, ...]) -> None:
    """Raise SpecError if two players have the same name."""
    first: dict[str, int] = {}
    for index, player in enumerate(players):
        if (place := first.setdefault(player.name, index)) != index:
            taken = f'players[{index}]: the name "{player.name}" is taken by players[{place}]'
            raise SpecError(f"{taken}; give one of them another `name`")

"""`arena.League` and `arena.play`: tournaments as values, with players that are bots, or functions of the caller.

mine = arena.play(lambda view, legal: legal[0], "greedy", blocks=20)
print(mine.standings())
"""

import contextlib
import json
import re
import sys
import weakref
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

import yaml

from arena.bundled import find_tournament
from arena.errors import CheckFailed, SpecError
from arena.games import DEFAULT_GAME
from arena.league.tournament import TOURNAMENT_FILE_LIMIT, TournamentFile
from arena.library.callable_bots import CALLABLES, CallableBot, Switchboard, bridge_folder, require_name
from arena.library.child import OnCounts, error_of, request_of, run_in_child
from arena.library.match import Match, load_match
from arena.library.table import Table
from arena.operations.list_matches import ListMatches, list_matches
from arena.operations.run_league import run_league
from arena.process.scratch import scratch_folder
from arena.report.columns import LEADERBOARD, SHOWN_STANDINGS
from arena.report.luck_origin import luck_description
from arena.report.matches import match_list
from arena.store import files
from arena.store.folder import open_store
from arena.text import counted, distinguish_names
from arena.yaml_file import read_yaml

AnyPlayer = str | Path | Callable[[Any, Any], Any] | Any
"""A bot by its name or path, a function `view, legal -> action`, or an object with `act(request)`."""
_MATRIX_COLUMNS: Final = ("player", "opponent", "matches", "score", "likelihood_better", "is_better")
_LONG_CLOCK: Final = {"move_ms": 60_000, "bank_ms": 600_000}
"""The default clock in milliseconds where a function plays: a notebook may take its time."""


class League:
    """A tournament of a file (its path, or the name of a bundled one) or of a mapping with the same keys.

    In a mapping a player's `bot` may also be a function or object. Its identity in the results is the player's name and
    `version` ("1" by default): a new version is a new player.
    """

    def __init__(
        self, tournament: str | Path | Mapping[str, Any], *, results: str | Path = "results", bots: str | Path = "bots"
    ) -> None:
        self._results, self._bots = absolute(results), absolute(bots)
        self._callables: dict[str, tuple[Any, str]] = {}
        self._content: dict[str, Any] | None = None
        if isinstance(tournament, Mapping):
            players = tournament.get("players", ())
            entries = [self._register(player) for player in players] if isinstance(players, list | tuple) else players
            self._content = {**tournament, "players": entries}
            self.name = str(tournament.get("name", "league"))
        else:
            self._file = find_tournament(str(tournament)).absolute()
            self.name = read_yaml(self._file, TournamentFile, limit=TOURNAMENT_FILE_LIMIT).name

    def run(
        self,
        *,
        workers: int | None = None,
        isolation: str | None = None,
        progress: OnCounts | bool = False,
        update: bool = False,
    ) -> Table:
        """Play what is left, in a process of its own; return the standings.

        `workers`: matches at once, by default the file's or all cores; one where a function plays. `isolation`:
        "sandbox" or "none", by default the sandbox; "none" where a function plays. `progress`: True shows a line,
        a function gets the numbers of matches done and asked for. `update` takes new versions and drops their matches.

        Raises the error of a function that plays, and those of the command: SpecError, MachineFault, CheckFailed.
        Interrupted by Ctrl-C, the same call continues.
        """
        self._play_remaining(workers=workers, isolation=isolation, progress=progress, update=update)
        return self.standings()

    def _play_remaining(
        self, *, workers: int | None, isolation: str | None, progress: OnCounts | bool, update: bool = False
    ) -> None:
        """Play what is left; the arguments and errors are those of `run`."""
        players = {name: CallableBot(name, player) for name, (player, _) in self._callables.items()}
        if players and isolation == "sandbox":
            raise SpecError(f"{', '.join(players)}: a function plays in the caller's process, which no sandbox holds")
        choices = {
            "isolation": isolation or ("none" if players else "sandbox"),
            "workers": 1 if players and workers is None else workers,
            "update": update,
            "may_drop": None if update else 0,
        }
        with Switchboard(self._results, players) as switchboard:
            if not update:
                self._require_versions()
            file = self._write_file()
            request = request_of(run_league, {**self._folders, "tournament": str(file), **choices})
            try:
                outcome = run_in_child(run_league, request, players=switchboard, on_counts=listener(progress))
            except SpecError as error:  # a mapping has no place that its author could look at
                raise error if self._content is None else SpecError(str(error).removeprefix(f"{file}: ")) from None
        if outcome["failure"] is not None:
            raise error_of(outcome["failure"])

    def standings(self) -> Table:
        """Return a row for each player, best first, with all the columns of `arena leaderboard --format json`.

        A notebook shows the default columns of the leaderboard. SpecError if the league is not stored.
        """
        from arena.operations.read_standings import ReadStandings, read_standings  # noqa: PLC0415 - playing needs no numpy
        from arena.standings.table import standings_json  # noqa: PLC0415 - see above

        table = read_standings(ReadStandings(results=self._results, league=self.name))
        document = json.loads(standings_json(table.standings))
        state = "" if document["is_complete"] else f" of {document['scheduled']}"
        title = f"{self.name}: {document['matches']}{state} matches, isolation {document['isolation']}"
        faulty = [f"{row['player']} {sum(row['faults'].values())}" for row in document["rows"] if row["faults"]]
        title += f", faults: {', '.join(faulty)}" if faulty else ""
        return Table(document["rows"], columns=LEADERBOARD[:SHOWN_STANDINGS], title=title)

    def matrix(self) -> Table:
        """Return a row for each player and each opponent, with all the columns of `arena matrix --format csv`."""
        from arena.operations.read_stats import ReadMatrix, read_matrix  # noqa: PLC0415 - see `standings`
        from arena.report.matrix import matrix_page  # noqa: PLC0415 - see `standings`

        compared, _ = read_matrix(ReadMatrix(results=self._results, league=self.name, players=None))
        document = json.loads(matrix_page(compared).render("json"))
        return Table(document["meetings"], columns=_MATRIX_COLUMNS, title=f"{self.name}: {document['matches']} matches")

    def stats(self, player: str) -> dict[str, Any]:
        """Return the statistics of a player, as `arena stats --format json` has them. SpecError for an unknown one."""
        from arena.operations.read_stats import ReadStats, read_stats  # noqa: PLC0415 - see `standings`
        from arena.report.profile import profile_page  # noqa: PLC0415 - see `standings`

        page, luck = read_stats(ReadStats(results=self._results, league=self.name, player=player))
        document: dict[str, Any] = json.loads(profile_page(page, luck=luck_description(luck)).render("json"))
        return document

    def matches(self) -> Table:
        """Return a row for each stored match, with all the columns of `arena league matches --format json`."""
        with list_matches(ListMatches(results=self._results, league=self.name)) as (seats, matches):
            text = "".join(match_list(matches, seats=seats, form="json"))
        return Table(json.loads(text), columns=("id", "players", "scores", "ranks", "termination"))

    def match(self, match_id: str) -> Match:
        """Return a match by its id, step by step. SpecError if there is none."""
        return load_match(match_id, results=self._results)

    def verify(self) -> list[str]:
        """Recompute what is stored, in a child process; return the findings, a sentence each.

        CheckFailed, which lists what does not fit, instead if anything does not.
        """
        from arena.operations.verify_leagues import verify_leagues  # noqa: PLC0415 - see `standings`

        findings: list[Mapping[str, Any]] = []
        request = request_of(verify_leagues, {"results": self._results, "leagues": [self.name]})
        if problems := run_in_child(verify_leagues, request, on=findings.append):
            raise CheckFailed("\n".join([*problems, f"{counted(len(problems), 'problem')} found"]))
        return [event["sentence"] for event in findings if event["type"] == "Found"]

    def __repr__(self) -> str:
        return f"<league {self.name} in {self._results}>"

    @property
    def _folders(self) -> dict[str, Path]:
        return {"results": self._results, "bots_folder": self._bots}

    def _register(self, entry: Any) -> Any:
        """Return an entry of `players` as a tournament file can have it, and note a function or object in it.

        SpecError for a bare function (it is the `bot` of a mapping), or a name that no player may have; other mistakes
        are left to the reader of the tournament.
        """
        if callable(entry):
            raise SpecError(f"players: expected mappings with the key bot, found {entry!r:.80}")
        if not isinstance(entry, Mapping) or isinstance(entry.get("bot", ""), str):
            return entry
        if isinstance(entry.get("bot"), Path):
            return {**entry, "bot": str(entry["bot"].absolute())}
        plain = {key: value for key, value in entry.items() if key != "version"}
        name = require_name(entry.get("name") or _name_of(entry["bot"]))
        self._callables[name] = (entry["bot"], str(entry.get("version", "1")))
        return {**plain, "name": name, "bot": str(self._results.resolve() / CALLABLES / f"{name}.bot")}

    def _require_versions(self) -> None:
        """Raise SpecError if a function that has played has another version now: it would take over old matches."""
        former: dict[str, str] = {}
        with contextlib.suppress(SpecError), open_store(self._results) as store:  # nothing is stored yet
            begun = store.league(self.name).players if self.name in store.leagues() else ()
            former = {player.name: player.bot.manifest.version for player in begun}
        for name, (_, version) in self._callables.items():
            if former.get(name, version) != version:
                change = f"{name} began as version {former[name]}, this is {version}"
                raise SpecError(f"{change}: `run(update=True)` takes it and drops its matches; or give it another name")

    def _write_file(self) -> Path:
        """Return the file of the tournament; if it came as a mapping, write it into the results.

        The bots that pass lines on to functions are written there, too.
        """
        if self._content is None:
            return self._file
        files.make_folder(self._results, CALLABLES)
        for name, (_, version) in self._callables.items():
            bridge_folder(self._results, name, version)
        files.write_plain(self._results, name := f"{CALLABLES}/tournament.yaml", yaml.safe_dump(self._content))
        return self._results / name


def play(  # noqa: PLR0913 - all by name
    *players: AnyPlayer,
    game: str = DEFAULT_GAME,
    blocks: int = 1,
    options: Mapping[str, Any] | None = None,
    clock: Mapping[str, Any] | None = None,
    seed: str | None = None,
    workers: int | None = None,
    isolation: str | None = None,
    progress: OnCounts | bool = False,
    bots: str | Path = "bots",
) -> League:
    """Play these players against each other at one table; return their league, whose results are gone with the object.

    `blocks`, each of as many matches as players: the same luck, each player once in each seat. `seed` makes the luck
    public. Other arguments and errors are those of `League.run`.
    """
    entries = [player if isinstance(player, Mapping) else {"bot": player} for player in players]
    content = {"name": "match", "game": game, "seats": len(players), "cycles": blocks, "options": dict(options or {})}
    content |= {"players": _with_distinct_names(entries)}
    if clock or any(not isinstance(player.get("bot", ""), str | Path) for player in entries):
        content["clock"] = dict(clock or _LONG_CLOCK)
    if seed is not None:
        content["seed"] = seed
    with contextlib.ExitStack() as ending:
        league = League(content, results=ending.enter_context(scratch_folder("arena-play-")), bots=bots)
        weakref.finalize(league, ending.pop_all().close)
    league._play_remaining(workers=workers, isolation=isolation, progress=progress)  # noqa: SLF001 - `run` would compute standings, too
    return league


def listener(progress: OnCounts | bool) -> OnCounts | None:  # noqa: FBT001 - as its callers got it
    """Return the listener for `progress`: a function as it is, for True one that prints a line, else None."""
    return progress if callable(progress) else _print_progress if progress else None


def absolute(path: str | Path) -> Path:
    """Return the path from the root; SpecError if the working folder has been removed."""
    try:
        return Path(path).absolute()
    except FileNotFoundError:
        raise SpecError(f"{path}: the working folder has been removed; go to one that is there") from None


def _with_distinct_names(entries: list[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the entries with distinct names: a bot that plays against itself is numbered."""
    names = distinguish_names([entry.get("name") or _name_of(entry.get("bot", "player")) for entry in entries])
    return [{**entry, "name": name} for entry, name in zip(entries, names, strict=True)]


def _name_of(player: AnyPlayer) -> str:
    """Return a name for a player: the stem of a bot's path, or the name of a function's definition."""
    named = Path(player).stem if isinstance(player, str | Path) else getattr(player, "__name__", type(player).__name__)
    return re.sub(r"[^A-Za-z0-9_.+-]|^[_.+-]+", "", named)[:36] or "player"


def _print_progress(done: int, total: int) -> None:
    """Write the progress as a line on stderr, over the line before."""
    sys.stderr.write(f"\r{done} of {total} matches{'' if done < total else chr(10)}")
    sys.stderr.flush()

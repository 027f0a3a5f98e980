"""`python benchmarks/beside_fastchess.py --fastchess PATH --engine A --engine B`: the same games under both programs.

Two engines that speak UCI play a league of arena and a tournament of fastchess: the same positions in the same order,
colours swapped, a fixed number of nodes (or depth), one thread, equal hash, a new process for each game, no
adjudication. Then each game must be the same, move by move, and so must the numbers that follow. Both programs play in
turns, part by part, so that times compare. The exit code is 1 if a game differs.
"""

import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import zip_longest
from pathlib import Path
from statistics import median
from typing import Any, Final, NamedTuple

import click
from measure import error_of_median
from tables import Figure, Row, Table

import arena
from arena.bundled import bundled_folder
from arena.games import load_game
from arena.games.api import Decision, Seat, Turn
from arena.league.openings import read_openings
from arena.match.record import ActionStep, MatchRecord, unpack
from arena.match.replay import replay
from arena.operations.engine_bot import write_engine
from arena.operations.leagues import load_league
from arena.statistics.elo import elo_of, normalised_elo
from arena.statistics.likelihood import normalised_llr
from arena.statistics.pentanomial import Counts, block_score
from arena.store.folder import open_store

_NAMES: Final = ("A", "B")
_GAME: Final = "openspiel:chess"
_LEAGUE: Final = "beside"
_ELO: Final = (0.0, 10.0)
"""H0 and H1 of the LLR, in normalised Elo."""
_TINY: Final = "1e-300"
"""The errors that fastchess allows in its test, so that it never stops."""
_HASH_MIB: Final = 16
_MOVE_MS: Final = 60_000
_MEMORY_MIB: Final = 8192
"""Debian's ethereal-chess keeps 7 MB of address space for each move."""
_STEP: Final = 5
"""One of so many positions is taken at each ply after an opening."""
_RULES: Final = {
    "mate": "mates",
    "stalemate": "stalemate",
    "a position came for the third time": "3-fold",
    "50 moves without capture or pawn": "fifty",
    "too few pieces to mate": "insufficient",
    "illegal_action": "illegal move",
}
"""Ends of a game: arena's words, and a word of fastchess's."""
_FIRST: Final = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"
_PGN_TAG: Final = re.compile(r'^\[(\w+) "(.*)"\]$', re.MULTILINE)
_PGN_MOVE: Final = re.compile(r"(?<!\S)[a-h][1-8][a-h][1-8][qrbn]?(?!\S)")
_FINISHED: Final = re.compile(r"^Finished game (\d+) \(\w+ vs \w+\): \S+ \{(.*)\}$", re.MULTILINE)
_NUMBER: Final = r"([-+\w.]+)"
_FIGURES: Final = {"Elo": rf"^Elo: {_NUMBER}", "nElo": rf"nElo: {_NUMBER}", "LLR": rf"LLR: {_NUMBER}"}
_PTNML: Final = re.compile(r"Ptnml\(0-2\): \[(.*?)\]")


class Game(NamedTuple):
    """A game: the name of White, the first position, the moves in LAN, the result, and the rule that ended it."""

    white: str
    start: str
    moves: tuple[str, ...]
    result: str
    ending: str


class Numbers(NamedTuple):
    """The numbers of all games from A's side, in the words of fastchess."""

    pairs: tuple[int, ...]
    figures: dict[str, float]


class Contest(NamedTuple):
    """The settings of both programs: commands of the engines, limits (`nodes=500`), and games at once."""

    engines: tuple[str, ...]
    limits: tuple[str, ...]
    workers: int


def first_difference(own: Game, other: Game) -> str:
    """Return the place where two games part: colour, position, move, result or ending; empty if they are the same."""
    for name in ("white", "start"):
        if getattr(own, name) != getattr(other, name):
            return f"{name}: {getattr(own, name)} and {getattr(other, name)}"
    for number, (move, counterpart) in enumerate(zip_longest(own.moves, other.moves, fillvalue="none"), start=1):
        if move != counterpart:
            return f"move {number}: {move} and {counterpart}"
    for name in ("result", "ending"):
        if getattr(own, name) != getattr(other, name):
            return f"{name}: {getattr(own, name)} and {getattr(other, name)}"
    return ""


def differences(own: Sequence[Game], others: Sequence[Game]) -> list[str]:
    """Return a sentence for each pair of games that is not the same, and one for different numbers of games."""
    sentences = [
        f"game {number}, {reason}"
        for number, pair in enumerate(zip(own, others, strict=False), start=1)
        if (reason := first_difference(*pair))
    ]
    return sentences + [f"{len(own)} and {len(others)} games"] * (len(own) != len(others))


def numbers_of(games: Sequence[Game]) -> Numbers:
    """Return the numbers of games in pairs with swapped colours, by the functions of `arena compare`."""
    scores = [{"1-0": 1.0, "0-1": 0.0}.get(game.result, 0.5) for game in games]
    own = [score if game.white == _NAMES[0] else 1 - score for game, score in zip(games, scores, strict=True)]
    counts = Counts.of(block_score(own[first : first + 2]) for first in range(0, len(own), 2))
    mean, variance = counts.moments
    deviations = (mean - 0.5) / variance**0.5 if variance else float("nan")
    elo = elo_of(mean) if 0 < mean < 1 else float("nan")
    llr = normalised_llr(counts, *_ELO)
    return Numbers(counts.numbers, {"Elo": elo, "nElo": normalised_elo(deviations, 2), "LLR": llr})


def fastchess_numbers(output: str) -> Numbers:
    """Return the numbers that fastchess printed last."""
    last = output[output.rindex("Results of ") :]
    found = {name: re.search(pattern, last, re.MULTILINE) for name, pattern in _FIGURES.items()}
    pairs = _PTNML.search(last)
    assert pairs is not None, "fastchess printed no pairs"
    figures = {name: float(match[1]) for name, match in found.items() if match is not None}
    return Numbers(tuple(map(int, pairs[1].split(","))), figures)


def fastchess_games(pgn: str, output: str) -> list[Game]:
    """Return the games of fastchess in pairs, A has White first, from its PGN and its sentences about their ends."""
    endings = {int(number): ending for number, ending in _FINISHED.findall(output)}
    games = {}
    for text in pgn.split("[Event ")[1:]:
        tags = dict(_PGN_TAG.findall(text))
        moves = _PGN_MOVE.findall(text.rpartition("]\n")[2])
        number = 2 * int(tags["Round"]) - (tags["White"] == _NAMES[0])
        rule = next((rule for rule, word in _RULES.items() if word in endings[number]), endings[number])
        games[number] = Game(tags["White"], tags.get("FEN", _FIRST), tuple(moves), tags["Result"], rule)
    return [games[number] for number in range(1, len(endings) + 1)]


def arena_game(record: MatchRecord, players: Sequence[str], ranks: Sequence[int]) -> Game:
    """Return a game of arena from its record; White has seat 1."""
    *_, last = replay(record)
    text = load_game(_GAME).describe(last.after)
    rule = next((rule for rule in _RULES if text.startswith(f"the game is over: {rule}\n")), str(record.termination))
    result = {-1: "1-0", 0: "1/2-1/2", 1: "0-1"}[(ranks[1] > ranks[0]) - (ranks[1] < ranks[0])]
    moves = tuple(step.action["move"] for step in record.steps if isinstance(step, ActionStep))
    return Game(players[1], record.options["opening"]["start"], moves, result, rule)


def positions(book: Path) -> list[str]:
    """Return positions two plies after the openings of the book, as FEN: so many that games differ."""
    rules = load_game(_GAME)
    entries = read_openings(_GAME, book.read_bytes(), str(book)).entries
    states = [rules.setup({"opening": entry}, 2) for entry in entries]
    for _ in range(2):
        choices = [
            (state, {seat: move})
            for state in states
            for seat in _to_move(rules.turn(state))
            for move in rules.legal(state, seat) or ()
        ]
        states = [rules.apply(*choice) for choice in choices[::_STEP]]
    return list(dict.fromkeys(rules.observe(state, Seat(0))["fen"] for state in states if _to_move(rules.turn(state))))


def _to_move(turn: Turn) -> tuple[Seat, ...]:
    """Return the seats to move; none at the end of a game."""
    return turn.seats if isinstance(turn, Decision) else ()


class ArenaSide:
    """A league of arena that grows part by part."""

    def __init__(self, folder: Path, contest: Contest, book: Path) -> None:
        players = []
        for name, engine, limit in zip(_NAMES, contest.engines, contest.limits, strict=True):
            if not (folder / name).exists():
                write_engine(folder / name, name, "uci", (engine,))
            words = [f"--go={limit.replace('=', ' ')}", f"Hash={_HASH_MIB}"]
            players.append({"bot": str(folder / name), "name": name, "arguments": words})
        self._workers, self._results, self._content = contest.workers, folder / "results", {
            "name": _LEAGUE, "game": _GAME, "players": players, "chunk_blocks": 1, "options": {"openings": str(book)},
            "clock": {"move_ms": _MOVE_MS, "bank_ms": 0}, "limits": {"memory_mib": _MEMORY_MIB},
        }  # fmt: skip

    def play(self, pairs: int) -> float:
        """Play until there are so many pairs of games; return the seconds."""
        content: dict[str, Any] = {**self._content, "cycles": pairs}
        start_s = time.perf_counter()
        arena.League(content, results=self._results).run(workers=self._workers)
        return time.perf_counter() - start_s

    def games(self) -> list[Game]:
        """Return the games so far in order of play: in pairs, A has White first."""
        if not self._results.exists():
            return []
        with open_store(self._results) as store:
            matches = list(store.matches(load_league(store, _LEAGUE).blocks))
        blocks: dict[int, list[Game]] = {}
        for match in matches:
            blocks.setdefault(match.key.block, []).append(arena_game(unpack(match.record), match.players, match.ranks))
        return [game for _, pair in sorted(blocks.items()) for game in sorted(pair)]


class FastchessSide:
    """A tournament of fastchess that goes on from its saved state part by part, with the openings of arena's league."""

    def __init__(self, folder: Path, contest: Contest, program: str) -> None:
        self._folder, self._program, self._workers = folder, program, contest.workers
        self._printed = folder / "printed.txt"
        self._options = list[str]()
        for name, engine, limit in zip(_NAMES, contest.engines, contest.limits, strict=True):
            command, _, words = engine.partition(" ")
            self._options += ["-engine", f"cmd={command}", f"name={name}", limit] + [f"args={words}"] * bool(words)
        self._options += ["-each", "restart=on", "option.Threads=1", f"option.Hash={_HASH_MIB}"]

    def play(self, openings: Iterable[str]) -> float:
        """Play until each opening was played by both colours; return the seconds."""
        book, state, fens = self._folder / "drawn.epd", self._folder / "state.json", list(openings)
        book.write_text("".join(f"{fen}\n" for fen in fens), encoding="ascii")
        begin = [
            *self._options, "-openings", f"file={book}", "format=epd", "order=sequential", "-games", "2",
            "-ratinginterval", "0", "-autosaveinterval", "0", "-recover", "-concurrency", str(self._workers),
            "-pgnout", f"file={self._folder / 'games.pgn'}", "notation=uci", "min=true",
            "-sprt", *(f"elo{k}={elo:g}" for k, elo in enumerate(_ELO)), f"alpha={_TINY}", f"beta={_TINY}",
            "-config", f"outname={state}",
        ]  # fmt: skip
        words = ["-config", f"file={state}"] if state.exists() else begin
        start_s = time.perf_counter()
        command = [self._program, *words, "-rounds", str(len(fens))]
        run = subprocess.run(command, check=False, cwd=self._folder, stdout=subprocess.PIPE, text=True)
        assert run.returncode == 0, run.stdout
        with self._printed.open("a", encoding="utf-8") as printed:
            printed.write(run.stdout)
        return time.perf_counter() - start_s

    def games(self) -> list[Game]:
        """Return the games so far."""
        if not self._printed.exists():
            return []
        return fastchess_games((self._folder / "games.pgn").read_text(encoding="utf-8"), self.printed)

    @property
    def printed(self) -> str:
        """All that fastchess has printed."""
        return self._printed.read_text(encoding="utf-8")


def report(
    own: Sequence[Game], others: Sequence[Game], their_numbers: Numbers, times: Sequence[Sequence[float]]
) -> str:
    """Return the table of both sides. `times`: milliseconds a move of each part, of arena and of fastchess."""
    numbers = numbers_of(own)
    same = len(own) - len(differences(own, others))
    rows: list[Row] = [
        ("games", *(str(len(games)) for games in (own, others))),
        ("the same in both, move by move", str(same), str(same)),
        ("no two alike", *(str(len(set(games))) for games in (own, others))),
        ("moves", *(str(_moves_of(games)) for games in (own, others))),
    ]
    endings = [Counter(game.ending for game in games) for games in (own, others)]
    rows += [(rule, *(str(count[rule]) for count in endings)) for rule in sorted(endings[0] | endings[1])]
    rows.append(("Ptnml(0-2)", *(", ".join(map(str, side.pairs)) for side in (numbers, their_numbers))))
    rows += [
        (name, *(f"{side.figures.get(name, float('nan')):.2f}" for side in (numbers, their_numbers)))
        for name in _FIGURES
    ]
    rows.append(("ms a move", *(Figure(median(side), 2, error=error_of_median(side)) for side in times)))
    overhead = [own_ms - other_ms for own_ms, other_ms in zip(*times, strict=True)]
    notes = (
        f"arena takes {Figure(median(overhead), 2, error=error_of_median(overhead))} ms a move more than fastchess",
    )
    table = Table(title="The same games", headers=("", "arena", "fastchess"), rows=tuple(rows), notes=notes)
    return "\n".join([table.text(), *differences(own, others)])


@click.command()
@click.option("--fastchess", required=True, type=click.Path(exists=True, resolve_path=True))
@click.option("--engine", "engines", multiple=True, required=True, help="Twice: a program, with its arguments.")
@click.option("--limit", "limits", multiple=True, default=("nodes=5000",), help="nodes=N or depth=N; one, or one each.")
@click.option("--games", default=1000, help="An even number.")
@click.option("--parts", default=10, help="In which both programs take turns.")
@click.option("--workers", default=1, help="Games at once.")
@click.option("--folder", type=click.Path(exists=True, path_type=Path), help="To keep all; goes on with what is there.")
@click.option("--book", default=None, type=click.Path(exists=True, path_type=Path), help="By default chess.pgn.")
def main(
    fastchess: str, engines: tuple[str, ...], limits: tuple[str, ...], games: int, parts: int,
    workers: int, folder: Path | None, book: Path | None,
) -> None:  # fmt: skip
    """Play the same games under both programs and compare them."""
    contest = Contest(engines, limits * 2 if len(limits) == 1 else limits, workers)
    with tempfile.TemporaryDirectory(prefix="arena-beside-") as scratch:
        place = Path(scratch) if folder is None else folder.absolute()
        epd = place / "book.epd"
        if not epd.exists():
            fens = positions(book or bundled_folder("tournaments") / "chess.pgn")
            epd.write_text("".join(f"{fen}\n" for fen in fens), encoding="ascii")
        sides = ArenaSide(place, contest, epd), FastchessSide(place, contest, fastchess)
        times, played = (list[float](), list[float]()), (sides[0].games(), sides[1].games())
        for part in range(1, parts + 1):
            pairs = games // 2 * part // parts
            if len(played[1]) >= 2 * pairs:
                continue
            seconds = sides[0].play(pairs), sides[1].play([game.start for game in sides[0].games()[::2]])
            earlier, played = played, (sides[0].games(), sides[1].games())
            for side, took_s in enumerate(seconds):
                moves = _moves_of(played[side]) - _moves_of(earlier[side])
                times[side].append(1000 * took_s * workers / moves)
            print(f"part {part} of {parts}: {seconds[0]:.0f} s, {seconds[1]:.0f} s", flush=True)
            print(report(*played, fastchess_numbers(sides[1].printed), times), flush=True)
    sys.exit(1 if differences(*played) else 0)


def _moves_of(games: Sequence[Game]) -> int:
    """Return the number of moves of all games."""
    return sum(len(game.moves) for game in games)


if __name__ == "__main__":
    main()

"""Chess and go as their engines write them: moves in LAN with FEN (UCI), vertices (GTP), books as EPD, PGN and SGF.

Rule: a notation is found by the type of OpenSpiel's state. Variants that no engine plays by plain LAN or vertices
(chess960, handicap) have none. A book is hostile input: OpenSpiel refuses what it cannot play, and here is said where.
"""

import re
from collections.abc import Iterator
from textwrap import fill
from typing import Any, Final, NamedTuple, Protocol

import msgspec
import pyspiel

from arena.errors import SpecError
from arena.games.api import OPENING, Json, Word
from arena.games.game_text import PlayedGame, PlayedMove
from arena.text import cut, printable

_COLUMNS: Final = "ABCDEFGHJKLMNOPQRST"
_LETTERS: Final = "abcdefghijklmnopqrs"
_EPD: Final = re.compile(r"\s*((?:[1-8pnbrqkPNBRQK]+/){7}\S+ [wb] \S+ \S+)(?: (\d+ \d+)(?!\S))?")
_PGN: Final = re.compile(
    r'\[\s*(?P<tag>\w+)\s+"(?P<value>(?:\\.|[^"\\])*)"?\s*\]?|\{[^}]*\}?|;[^\n]*|\$\d+|(?P<end>1-0|0-1|1/2-1/2|\*)(?!\S)'
    r"|\d+\.+|(?P<word>[()]|[^\s(){}\[\];$]+)"
)
_SGF: Final = re.compile(r"(?P<bracket>[()])|(?P<key>[A-Z]+)\s*(?P<values>(?:\[(?:\\.|[^\\\]])*\]?\s*)*)", re.DOTALL)
"""What is not closed ends with the text, so that no search begins twice."""
_FIRST_FEN: Final = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"
_WHITE: Final = 1
_QUIET_LIMIT: Final = 100
"""Half-moves without capture or pawn after which OpenSpiel ends a game of chess."""
_TERMINATIONS: Final = {"normal": "normal", "timeout": "time forfeit"}
_NO_BRACES: Final = str.maketrans("{}", "()")
_SGF_SETUP: Final = {"AB", "AW", "AE", "HA"}


class Opening(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """The beginning of a match: the first position (empty: that of the rules), and the moves played from there."""

    start: str = ""
    moves: tuple[Word, ...] = ()


class WrittenMove(NamedTuple):
    """A move to be written: the state before it, its number, and what is known of it (an opening's: nothing)."""

    before: Any
    number: int
    known: PlayedMove


class Notation(Protocol):
    """The notation of a game."""

    def moves(self, spiel: Any, actions: list[int]) -> list[str]:
        """Return legal actions as moves."""

    def view(self, spiel: Any) -> dict[str, Json]:
        """Return the first position, where it may differ, and `moves`, all moves so far."""

    def ending(self, spiel: Any) -> str:
        """Return how the game of a final state ended, in some words."""

    def first(self, game: Any, start: str) -> Any:
        """Return the state of a first position. SpielError or ValueError if it cannot be played."""

    def action(self, spiel: Any, move: str) -> int:
        """Return the number of a move, which may be illegal. SpielError if it is none."""

    def split(self, game: Any, book: str) -> Iterator[Opening]:
        """Yield the openings in the text of a book as they stand there."""

    form: str

    def write(self, played: PlayedGame, first: Any, moves: list[WrittenMove], ending: str) -> str:
        """Return a match as text in the format `form`; `ending` is empty if it was broken off."""


class _Chess:
    """FEN and LAN; a move of an opening may also be SAN."""

    form = "pgn"

    def moves(self, spiel: Any, actions: list[int]) -> list[str]:
        """Return legal actions in LAN."""
        board = spiel.board()
        return [pyspiel.chess.action_to_move(action, board).to_lan() for action in actions]

    def view(self, spiel: Any) -> dict[str, Json]:
        """Return the first position and the present one, and the moves between them."""
        moves = [move.to_lan() for move in spiel.moves_history()]
        return {"start": spiel.start_fen(), "fen": spiel.board().to_fen(), "moves": moves}

    def ending(self, spiel: Any) -> str:
        """Return mate or stalemate, or the rule by which OpenSpiel ends a game without a claim."""
        if not spiel.board().has_legal_moves():
            return "mate" if any(spiel.returns()) else "stalemate"
        if int(spiel.board().to_fen().split()[4]) >= _QUIET_LIMIT:
            return "50 moves without capture or pawn"
        return "a position came for the third time" if spiel.is_repetition_draw() else "too few pieces to mate"

    def first(self, game: Any, start: str) -> Any:
        """Return the state of a FEN."""
        spiel = game.new_initial_state(_checked_fen(start))
        for action in spiel.legal_actions():
            spiel.action_to_string(action)  # refuses a king that can be taken
        return spiel

    def action(self, spiel: Any, move: str) -> int:
        """Return the number of a move in LAN or SAN."""
        return int(spiel.parse_move_to_action(move))

    def split(self, _game: Any, book: str) -> Iterator[Opening]:
        """Yield the lines of an EPD book; the games of any other text as PGN, without variations."""
        lines = [line for line in book.splitlines() if line.strip() and not line.startswith("#")]
        if lines and _EPD.match(lines[0]):
            for line in lines:
                found = _EPD.match(line)
                yield Opening(f"{found[1]} {found[2] or '0 1'}" if found else line[:200])
            return
        start, moves, depth = "", list[str](), 0
        for token in _PGN.finditer(book):
            word = token["word"]
            if (token["end"] or token["tag"]) and (moves or start) and not (token["tag"] and not moves):
                yield Opening(start, tuple(moves))
                start, moves, depth = "", [], 0
            if token["tag"] == "FEN":
                start = token["value"]
            elif word in {"(", ")"}:
                depth += 1 if word == "(" else -1
            elif word and depth == 0:
                moves.append(word.replace("0-0-0", "O-O-O").replace("0-0", "O-O"))
        yield from [Opening(start, tuple(moves))] if moves or start else []

    def write(self, played: PlayedGame, first: Any, moves: list[WrittenMove], ending: str) -> str:
        """Return a match as PGN, with clocks and notes as comments."""
        black, white = played.ranks
        result = "1-0" if white < black else "0-1" if black < white else "1/2-1/2"
        start = first.start_fen()
        tags = {"Event": played.title, "Site": "?", "Date": "????.??.??", "Round": played.number}
        tags |= {"White": played.players[1], "Black": played.players[0], "Result": result}
        tags |= {} if start == _FIRST_FEN else {"SetUp": "1", "FEN": start}
        tags["Termination"] = _TERMINATIONS.get(played.termination, "rules infraction")
        words = []
        for before, number, known in moves:
            dots = "." if before.current_player() == _WHITE else "..."
            words += [f"{before.board().to_fen().split()[-1]}{dots}", before.action_to_string(number)]
            parts = [f"[%clk {_hours(known.left_s)}]"] if known.left_s is not None else []
            parts += [f"[%emt {_hours(known.took_s)}]"] if known.took_s is not None else []
            comment = " ".join([*parts, printable(known.note).translate(_NO_BRACES)]).strip()
            words += [f"{{{comment}}}"] if comment else []
        words += [f"{{{ending}}}"] if ending else []
        quoted = {name: printable(value).replace("\\", "\\\\").replace('"', '\\"') for name, value in tags.items()}
        header = "".join(f'[{name} "{value}"]\n' for name, value in quoted.items())
        return f"{header}\n{fill(' '.join([*words, result]), 80, break_long_words=False, break_on_hyphens=False)}\n\n"


class _Go:
    """Vertices."""

    form = "sgf"

    def moves(self, spiel: Any, actions: list[int]) -> list[str]:
        """Return actions as vertices: D4, or pass."""
        size = _parameter(spiel.get_game(), "board_size")
        return ["pass" if a == size * size else f"{_COLUMNS[a % size]}{a // size + 1}" for a in actions]

    def view(self, spiel: Any) -> dict[str, Json]:
        """Return size of the board, komi and moves."""
        size, komi = (_parameter(spiel.get_game(), name) for name in ("board_size", "komi"))
        return {"size": size, "komi": komi, "moves": self.moves(spiel, spiel.history())}

    def ending(self, spiel: Any) -> str:
        """Return whether both passed, or the rule by which OpenSpiel ends a game."""
        game, moves = spiel.get_game(), spiel.history()
        if moves[-2:] == [_parameter(game, "board_size") ** 2] * 2:
            return "both passed"
        return "the limit of moves" if len(moves) >= game.max_game_length() else "a position came again"

    def first(self, _game: Any, _start: str) -> Any:
        """Refuse any first position."""
        raise ValueError("an opening of go has moves only")

    def action(self, spiel: Any, move: str) -> int:
        """Return the number of a vertex; -1 for any other text."""
        vertices = self.moves(spiel, [*range(spiel.num_distinct_actions())])
        return vertices.index(move) if move in vertices else -1

    def split(self, game: Any, book: str) -> Iterator[Opening]:
        """Yield the games of an SGF book, without variations and setup."""
        size, moves, depth, is_line = _parameter(game, "board_size"), list[str](), 0, True
        for token in _SGF.finditer(book):
            key, value = token["key"], (token["values"] or "").strip().strip("[]")
            if token["bracket"] == "(":
                depth += 1
            elif token["bracket"] == ")":
                depth, is_line = depth - 1, False
                if depth == 0:
                    yield Opening(moves=tuple(moves))
                    moves, is_line = [], True
            elif key in _SGF_SETUP or (key == "SZ" and value != str(size)):
                moves.append(f"{key}[{value}]")  # refused as a move, by its name
            elif is_line and key in {"B", "W"}:
                is_turn = key == "BW"[len(moves) % 2]
                moves.append(_vertex(value, size) if is_turn else f"{key}[{value}]")

    def write(self, played: PlayedGame, first: Any, moves: list[WrittenMove], ending: str) -> str:
        """Return a match as SGF, with clocks and notes."""
        game, (black, white) = first.get_game(), played.ranks
        size, komi = (_parameter(game, name) for name in ("board_size", "komi"))
        by = {"normal": "", "timeout": "T"}.get(played.termination, "F")
        result = f"B+{by}" if black < white else f"W+{by}" if white < black else "0"
        tags = {"FF": 4, "GM": 1, "CA": "UTF-8", "SZ": size, "KM": f"{komi:g}", "RU": "area, all stones alive"}
        tags |= {
            "EV": played.title,
            "RO": played.number,
            "PB": played.players[0],
            "PW": played.players[1],
            "RE": result,
        }
        nodes = [tags | ({"GC": ending} if ending else {})]
        for before, number, known in moves:
            colour, point = "BW"[before.current_player()], ""
            if number < size * size:
                point = f"{_LETTERS[number % size]}{_LETTERS[size - 1 - number // size]}"
            left = {} if known.left_s is None else {f"{colour}L": f"{known.left_s:.3f}"}
            nodes.append({colour: point, **left, **({"C": known.note} if known.note else {})})
        return "(" + "\n".join(f";{''.join(_property(*pair) for pair in node.items())}" for node in nodes) + ")\n"


_CHESS: Final = _Chess()
_GO: Final = _Go()


class Book:
    """The capabilities `openings` and `game_text` of a game with a notation."""

    def __init__(self, game: Any, notation: Notation) -> None:
        self._game, self._notation, self.form = game, notation, notation.form

    def read(self, book: str) -> Iterator[dict[str, Json]]:
        """Yield the openings in the text of a book, their moves as in views. SpecError names one that is refused."""
        for number, opening in enumerate(self._notation.split(self._game, book), start=1):
            try:
                spiel = begin(self._game, self._notation, opening)
            except SpecError as error:
                raise SpecError(f"opening {number}: {error}") from None
            view = self._notation.view(spiel)
            yield msgspec.to_builtins(Opening(opening.start and view["start"], tuple(view["moves"])))

    def write(self, played: PlayedGame) -> str:
        """Return the match as text, its opening included."""
        opening = msgspec.convert(played.options.get(OPENING, {}), Opening)
        first = spiel = begin(self._game, self._notation, Opening(opening.start))
        moves = list[WrittenMove]()
        for known in (*map(PlayedMove, opening.moves), *played.moves):
            is_of_book = isinstance(known.action, str)
            number = self._notation.action(spiel, known.action) if is_of_book else known.action["id"]
            moves.append(WrittenMove(spiel, number, known))
            spiel = spiel.child(number)
        return self._notation.write(played, first, moves, self._notation.ending(spiel) if spiel.is_terminal() else "")


def begin(game: Any, notation: Notation | None, opening: Opening) -> Any:
    """Return the state after an opening. SpecError if it cannot be played, ends the game, or there is no notation."""
    if notation is None:
        raise SpecError("the game takes no openings")
    place = opening.start
    try:
        spiel = notation.first(game, opening.start) if opening.start else game.new_initial_state()
        for number, move in enumerate(opening.moves, start=1):
            place = f"{move}, move {number}"
            spiel.apply_action_with_legality_check(notation.action(spiel, move))
    except (pyspiel.SpielError, ValueError) as error:
        reason = "it is not legal" if isinstance(error, pyspiel.SpielError) else str(error)
        raise SpecError(f"{printable(cut(place))}: {reason}") from None
    if spiel.is_terminal():
        raise SpecError(f"{printable(cut(place))}: the game is over")
    return spiel


def notation_of(spiel: Any) -> Notation | None:
    """Return the notation of a state's game; None if it has none."""
    if isinstance(spiel, pyspiel.ChessState):
        return None if _parameter(spiel.get_game(), "chess960") else _CHESS
    is_go = isinstance(spiel, pyspiel.go.GoState)
    return _GO if is_go and not _parameter(spiel.get_game(), "handicap") else None


def _checked_fen(fen: str) -> str:
    """Return a FEN; ValueError if it has not one king a side, or rights to castle without king and rook at home."""
    board, *fields = fen.split(" ")
    ranks = [re.sub(r"\d", lambda digit: "." * int(digit[0]), rank) for rank in board.split("/")]
    if not _EPD.fullmatch(fen) or any(len(rank) != 8 for rank in ranks) or {*map(board.count, "kK")} != {1}:
        raise ValueError("no FEN of a position with one king for each side")
    if "P" in f"{ranks[0]}{ranks[7]}".upper():
        raise ValueError("a pawn stands on the first or the last rank")
    for right in fields[1].strip("-"):
        home = ranks[7] if right.isupper() else ranks[0].swapcase()
        if home[4] != "K" or home[7 if right in "Kk" else 0] != "R":
            raise ValueError(f"the right {right} to castle without king and rook at home")
    return fen


def _hours(seconds: float) -> str:
    """Return a time as PGN has it: h:mm:ss with milliseconds."""
    return f"{int(seconds) // 3600}:{int(seconds) // 60 % 60:02}:{seconds % 60:06.3f}"


def _property(name: str, value: Json) -> str:
    """Return a property of SGF, its value escaped."""
    text = printable(str(value)).replace("\\", "\\\\").replace("]", "\\]")
    return f"{name}[{text}]"


def _vertex(point: str, size: int) -> str:
    """Return the vertex of a point of SGF; the point itself if it is none."""
    if point in {"", "tt"}:
        return "pass"
    places = [_LETTERS[:size].find(letter) for letter in point]
    return f"{_COLUMNS[places[0]]}{size - places[1]}" if len(places) == 2 and min(places) >= 0 else point


def _parameter(game: Any, name: str) -> Any:
    """Return a parameter of the game, by default OpenSpiel's."""
    return game.get_parameters().get(name, game.get_type().parameter_specification[name])

"""Chess and go as their engines write them: moves in LAN with FEN (UCI), vertices (GTP).

Rule: a notation is found by the type of OpenSpiel's state. Variants that no engine plays by plain LAN or vertices
(chess960, handicap) have none.
"""

from typing import Any, Final, Protocol

import pyspiel

from arena.games.api import Json

_COLUMNS: Final = "ABCDEFGHJKLMNOPQRST"


class Notation(Protocol):
    """The notation of a game."""

    def moves(self, spiel: Any, actions: list[int]) -> list[str]:
        """Return legal actions as moves."""

    def view(self, spiel: Any) -> dict[str, Json]:
        """Return the first position, where it may differ, and `moves`, all moves so far."""


class _Chess:
    """FEN and LAN."""

    def moves(self, spiel: Any, actions: list[int]) -> list[str]:
        """Return legal actions in LAN."""
        board = spiel.board()
        return [pyspiel.chess.action_to_move(action, board).to_lan() for action in actions]

    def view(self, spiel: Any) -> dict[str, Json]:
        """Return the first position and the present one, and the moves between them."""
        moves = [move.to_lan() for move in spiel.moves_history()]
        return {"start": spiel.start_fen(), "fen": spiel.board().to_fen(), "moves": moves}


class _Go:
    """Vertices."""

    def moves(self, spiel: Any, actions: list[int]) -> list[str]:
        """Return actions as vertices: D4, or pass."""
        size = _parameter(spiel, "board_size")
        return ["pass" if a == size * size else f"{_COLUMNS[a % size]}{a // size + 1}" for a in actions]

    def view(self, spiel: Any) -> dict[str, Json]:
        """Return size of the board, komi and moves."""
        size, komi = _parameter(spiel, "board_size"), _parameter(spiel, "komi")
        return {"size": size, "komi": komi, "moves": self.moves(spiel, spiel.history())}


_CHESS: Final = _Chess()
_GO: Final = _Go()


def notation_of(spiel: Any) -> Notation | None:
    """Return the notation of a state's game; None if it has none."""
    if isinstance(spiel, pyspiel.ChessState):
        return None if _parameter(spiel, "chess960") else _CHESS
    return _GO if isinstance(spiel, pyspiel.go.GoState) and not _parameter(spiel, "handicap") else None


def _parameter(spiel: Any, name: str) -> Any:
    """Return a parameter of the game, by default OpenSpiel's."""
    game = spiel.get_game()
    return game.get_parameters().get(name, game.get_type().parameter_specification[name])

"""The actions that expansions add, in the order of their files."""

from arena.games.api import Number
from arena.games.shanghaien.actions import Action, End, numbering


class PlayCaptain(Action, frozen=True, tag="crazy_captain"):
    """Bring the Crazy Captain into force until the round ends."""

    text = "plays the Crazy Captain"


class Allow(Action, frozen=True, tag="allow"):
    """Let the opponent carry the announced action out."""

    text = "allows it"


class Veto(Action, frozen=True, tag="veto"):
    """Forbid the announced action; the one veto in this turn of theirs."""

    text = "vetoes it"


class Ban(Action, frozen=True, tag="no_shanghai"):
    """Nobody may choose shanghai for the rest of the round, until a player has to."""

    text = "plays no shanghai: nobody may call it"


class RerollAll(Action, frozen=True, tag="reroll_all"):
    """Roll the two dice and all own dice placed in this round together."""

    text = "plays reroll all: takes all own dice of the round and rolls them"


class KeepBack(Action, frozen=True, tag="keep_back"):
    """Put one die of that face back into the supply; all others go to their numbers.

    `one` is given while the numbering is open, and only then.
    """

    die: Number
    one: End | None = None

    def __str__(self) -> str:
        return f"keeps a {self.die} back and places the others{numbering(self.one)}"


class Feed(Action, frozen=True, tag="feed"):
    """Turn the card down on which the die of this turn is placed."""

    text = "plays feed the sharks: turns down the card they place on"


class Exchange(Action, frozen=True, tag="exchange"):
    """Take one of the own dice on the number `back` into the supply, and place both dice just rolled."""

    back: Number

    def __str__(self) -> str:
        return f"plays exchange: takes a die back from {self.back} and places both"


class PlayDoubles(Action, frozen=True, tag="doubles"):
    """Lay the card back to the middle and roll both dice again."""

    text = "plays doubles: lays the card to the middle and rolls both dice again"


class RollOne(Action, frozen=True, tag="roll_one"):
    """Roll one of two equal dice again."""

    text = "rolls one of the two dice again"


class TakeDoubles(Action, frozen=True, tag="take_doubles"):
    """Place nothing and take the doubles card, from the middle or from the opponent.

    `one` is given while the numbering is open, and only then.
    """

    one: End | None = None

    def __str__(self) -> str:
        return f"places nothing and takes the doubles card{numbering(self.one)}"

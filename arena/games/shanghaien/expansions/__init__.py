"""The expansions on offer, one file each, in the order in which their hooks run.

Source: the part on expansions in the Russian rule text; the rulings are in docs/shanghaien.md.
"""

from typing import Final

from arena.games.shanghaien.expansions.crazy_captain import CRAZY_CAPTAIN
from arena.games.shanghaien.expansions.doubles import DOUBLES
from arena.games.shanghaien.expansions.no_shanghai import NO_SHANGHAI
from arena.games.shanghaien.expansions.sharks import SHARKS
from arena.games.shanghaien.state import Expansion

EXPANSIONS: Final[dict[str, Expansion]] = {e.name: e for e in (CRAZY_CAPTAIN, NO_SHANGHAI, SHARKS, DOUBLES)}

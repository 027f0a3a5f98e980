"""Sentences that tell the author of a bot why an action is illegal.

Rule: say what was tried, and what stands against it in this position.
"""

from arena.games.api import Seat
from arena.games.shanghaien.actions import Action, End, Joker, Place, Roll, Shanghai
from arena.games.shanghaien.cards import NATIONS
from arena.games.shanghaien.state import Choice, State
from arena.games.shanghaien.turns import kind_spent


def why_illegal(state: State, seat: Seat, action: Action) -> str:
    """One sentence; `action` must be well formed and not legal for `seat`."""
    phase = state.phase
    if not isinstance(phase, Choice) and phase not in ("turn", "rolled"):
        return f"{action.tag}: no action is asked for now"
    mover = phase.seat if isinstance(phase, Choice) else state.to_move
    if mover != seat:
        return f"seat {seat} is not to move; seat {mover} is"
    asking = [phase.by] if isinstance(phase, Choice) else state.variant.expansions
    hooks = [why for name in asking if (why := state.variant.expansions[name].why) is not None]
    sentence = next(filter(None, (why(state, action) for why in hooks)), None)
    if sentence is None and isinstance(phase, Choice):
        return f"{action.tag} does not answer the question {phase.name}"
    return sentence or _why_by_base(state, action)


def why_misnumbered(state: State, one: End | None) -> str | None:
    """One sentence if an action must not choose the end of number 1 but does, or must and does not; else None."""
    if state.one_at is not None and one is not None:
        return f"`one` is given only while the numbering is open; number 1 lies on the {state.one_at}"
    if state.one_at is None and one is None:
        return 'the numbering of this round is open, and this action chooses it: add "one": "left" or "right"'
    return None


def _why_by_base(state: State, action: Action) -> str:
    player = state.players[state.to_move]
    match action:
        case Roll() | Shanghai() if state.phase == "rolled":
            return (
                f"{action.tag} begins a turn; this one has begun, the dice show {_dice(state.dice)}: place, or a trick"
            )
        case Roll():
            return f"a roll needs 2 dice in the supply, found {player.supply}; shanghai is compulsory"
        case Shanghai():
            return f"shanghai needs 2 own dice placed in this round, found {sum(player.placed)}"
        case _ if state.phase == "turn":
            return f"{action.tag} comes after a roll; now choose roll or shanghai"
        case Place():
            return _why_not_placed(state, action)
    return _why_not_played(state, action)


def _why_not_placed(state: State, action: Place) -> str:
    least, most = state.must_place, state.to_place
    if not least <= len(action.dice) <= most:
        wanted = f"{most} must be placed" if least == most else f"{least} or {most} can be placed"
        return f"found {len(action.dice)} dice in `dice`, but {wanted}"
    shown = f"the dice show {_dice(state.dice)}, so {_dice(action.dice)} cannot be placed"
    return why_misnumbered(state, action.one) or shown


def _why_not_played(state: State, action: Action) -> str:
    held = sorted({state.variant.faces[card] for card in state.players[state.to_move].tricks})
    if state.players[state.to_move].has_used_trick:
        return f"{action.tag}: a trick has been used in this round; each player may use one per round"
    if isinstance(action, Joker) and action.nation not in NATIONS:
        return f'there is no nation "{action.nation}"; the nations are {", ".join(NATIONS)}'
    wanted = kind_spent(state.variant, action) or action.tag
    if wanted not in held:
        return f'no trick "{wanted}" to play; you hold {", ".join(held) or "none"}'
    if isinstance(action, Joker):
        return f"a joker needs a sailor card of its nation, and you hold none that is {action.nation}"
    return f"{action} is not possible: the dice show {_dice(state.dice)}; one may change by 1, within 1 to 6"


def _dice(faces: tuple[int, ...]) -> str:
    return " and ".join(map(str, faces))

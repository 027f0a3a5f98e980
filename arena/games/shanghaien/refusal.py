"""Why an action is illegal, as a sentence for the author of the bot.

Rule: say what was tried, and what stands against it in this position.
"""

from arena.games.api import Seat
from arena.games.shanghaien.actions import Action, End, Joker, Place, Roll, Shanghai
from arena.games.shanghaien.cards import NATIONS
from arena.games.shanghaien.state import Phase, State
from arena.games.shanghaien.tricks import kind_spent


def why_illegal(state: State, seat: Seat, action: Action) -> str:
    """One sentence; `action` must be well formed and not legal for `seat`."""
    asked = state.interlude
    if state.phase not in (Phase.TURN, Phase.ROLLED, Phase.INTERLUDE) or (asked and asked.chance):
        return f"{_name(action)}: no action is asked for now"
    mover = asked.seat if asked else state.to_move
    if mover != seat:
        return f"seat {seat} is not to move; seat {mover} is"
    if asked is not None:
        other = f"{_name(action)} does not answer the question {asked.name}"
        return _why_by_expansion(state, action, asked.by) or other
    sentences = (_why_by_expansion(state, action, name) for name in state.variant.expansions)
    return next(filter(None, sentences), None) or _why_by_base(state, action)


def why_misnumbered(state: State, one: End | None) -> str | None:
    """One sentence if an action must not choose the end of number 1 but does, or must and does not; else None."""
    if state.one_at is not None and one is not None:
        return f"`one` is given only while the numbering is open; number 1 lies on the {state.one_at}"
    if state.one_at is None and one is None:
        return 'the numbering of this round is open, and this action chooses it: add "one": "left" or "right"'
    return None


def _why_by_expansion(state: State, action: Action, name: str) -> str | None:
    """The sentence of the expansion `name`, if it stands against the action."""
    why = state.variant.expansions[name].why
    return why(state, action) if why is not None else None


def _why_by_base(state: State, action: Action) -> str:
    if isinstance(action, Roll | Shanghai):
        return _why_not_begun(state, action)
    if state.phase is Phase.TURN:
        return f"{_name(action)} comes after a roll; now choose roll or shanghai"
    if isinstance(action, Place):
        return _why_not_placed(state, action)
    return _why_not_played(state, action)


def _why_not_begun(state: State, action: Roll | Shanghai) -> str:
    if state.phase is Phase.ROLLED:
        return (
            f"{_name(action)} begins a turn; this one has begun, the dice show {_dice(state.dice)}: place, or a trick"
        )
    player = state.players[state.to_move]
    if isinstance(action, Roll):
        return f"a roll needs 2 dice in the supply, found {player.supply}; shanghai is compulsory"
    return f"shanghai needs 2 own dice placed in this round, found {sum(player.placed)}"


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
        return f"{_name(action)}: a trick has been used in this round; each player may use one per round"
    if isinstance(action, Joker) and action.nation not in NATIONS:
        return f'there is no nation "{action.nation}"; the nations are {", ".join(NATIONS)}'
    wanted = kind_spent(state.variant, action) or _name(action)
    if wanted not in held:
        return f'no trick "{wanted}" to play; you hold {", ".join(held) or "none"}'
    if isinstance(action, Joker):
        return f"a joker needs a sailor card of its nation, and you hold none that is {action.nation}"
    return f"{action} is not possible: the dice show {_dice(state.dice)}; one may change by 1, within 1 to 6"


def _dice(faces: tuple[int, ...]) -> str:
    return " and ".join(map(str, faces))


def _name(action: Action) -> str:
    return str(action.__struct_config__.tag)

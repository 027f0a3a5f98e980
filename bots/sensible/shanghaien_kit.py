"""shanghaien_kit: the numbers of Shanghaien for bots in Python. One file, standard library only; arena_kit.py has the rest.

    from shanghaien_kit import award, score, successors

- `award(view)` says who would get each card if the round ended now.
- `score(view)` counts the points of both seats if the match ended now, `score(shanghaied(view))` if the round did.
- `successors(view, action)` lists the views that an action can lead to, with their chances: what to search through.

All functions take the `view` of a request, or one that `successors` made, and change nothing in it. Seats are 0 and 1;
whose turn it is stands in `view["to_move"]`. Of the expansions, the kit knows what the board shows: cards turned face
down are not awarded, and the jokers of all tricks are known. It does not know their own actions, nor that a captain
may veto: `successors` says what comes of an action if it is allowed.
"""

ROUNDS = 8
NATIONS = ("american", "french", "german", "chinese", "dutch", "turkish", "spanish", "italian")
JOKER = 2  # sailors that a trick counts as, laid as a joker
ROLLS = [((1 if a == b else 2) / 36, [a, b]) for a in range(1, 7) for b in range(a, 7)]  # of two dice


def cards_by_number(view):
    """Return the six cards of the row by number; as they lie while the numbering is open."""
    return view["tavern"][::-1] if view["one_at"] == "right" else view["tavern"]


def award(view):
    """Return the seat that would get each card, by number; None for a card that leaves the game."""
    placed = [player["placed"] for player in view["players"]]
    face_down = view.get("expansions", {}).get("sharks", {}).get("face_down", ())
    return [None if number in face_down else _winner(placed, number) for number in range(1, 7)]


def score(view):
    """Return the points of both seats, as if the match ended now: crews, and a point for each unused trick."""
    points = [len(player["tricks"]) for player in view["players"]]
    for nation in NATIONS:
        crews = [player["strength"][nation] for player in view["players"]]
        if crews[0] != crews[1]:
            points[crews[1] > crews[0]] += min(crews) or max(crews)
    return points


def shanghaied(view):
    """Return the view after the round has ended. The next row is not known, so `tavern` is empty; seat and round are."""
    winners, cards = award(view), cards_by_number(view)
    players = [_after_round(player) for player in view["players"]]
    gone = list(view["gone"])
    for winner, card in zip(winners, cards):
        if winner is None:
            gone.append(card)
        else:
            _give(players[winner], card)
    ended = view | {"players": players, "gone": gone, "tavern": [], "pile": max(0, view["pile"] - len(cards))}
    if view["round"] == ROUNDS:
        return ended | {"phase": "over"}
    return _turn_over(ended) | {"round": view["round"] + 1, "one_at": None}


def successors(view, action):
    """Return the pairs (chance, view) that an action of `legal` can lead to; the chances add up to 1.

    Dice have 21 outcomes, all other actions one. ValueError for an action of an expansion.
    """
    match action["do"]:
        case "roll":
            return _rolls(view)
        case "shanghai":
            return [(1.0, shanghaied(view))]
        case "place":
            return [(1.0, _placed(view, action))]
        case "adjust":
            dice = list(view["dice"])
            dice[dice.index(action["die"])] = action["to"]
            return [(1.0, _spent(view, "adjust") | {"dice": dice})]
        case "both":
            return [(1.0, _spent(view, "both") | {"to_place": 2})]
        case "reroll":
            return _rolls(_spent(view, "reroll"))
        case "joker":
            return [(1.0, _joker_laid(view, action))]
        case other:
            raise ValueError(f"shanghaien_kit does not know the action {other}")


def _winner(placed, number):
    dice = [counts[number - 1] for counts in placed]
    if dice[0] == dice[1] > 0:
        dice = [_neighbours(counts, number) for counts in placed]
    return None if dice[0] == dice[1] else int(dice[1] > dice[0])


def _neighbours(counts, number):
    """Return the pips beside a card: dice times number."""
    return sum(counts[beside - 1] * beside for beside in (number - 1, number + 1) if 1 <= beside <= 6)


def _after_round(player):
    copies = {name: list(player[name]) for name in ("sailors", "tricks")} | {"strength": dict(player["strength"])}
    return player | copies | {"supply": 6, "placed": [0] * 6, "trick_used": False}


def _give(player, card):
    nation, _, value = card.partition(" ")
    if value:
        player["sailors"].append(card)
        player["strength"][nation] += int(value)
    else:
        player["tricks"].append(card)


def _turn_over(view):
    return view | {"to_move": 1 - view["to_move"], "phase": "turn", "dice": [], "to_place": 1, "must_place": 1}


def _rolls(view):
    has_doubles = "doubles" in view.get("expansions", {})
    return [
        (chance, view | {"dice": dice, "phase": "doubles" if has_doubles and dice[0] == dice[1] else "rolled"})
        for chance, dice in ROLLS
    ]


def _placed(view, action):
    mover = view["players"][view["to_move"]]
    dice = action["dice"]
    placed = [count + dice.count(number) for number, count in enumerate(mover["placed"], 1)]
    after = _with_mover(view, placed=placed, supply=mover["supply"] - len(dice))
    return _turn_over(after) | {"one_at": action.get("one") or view["one_at"]}


def _spent(view, kind):
    tricks = list(view["players"][view["to_move"]]["tricks"])
    tricks.remove(kind)
    return _with_mover(view, tricks=tricks, trick_used=True) | {"gone": [*view["gone"], kind]}


def _joker_laid(view, action):
    mover = view["players"][view["to_move"]]
    tricks = list(mover["tricks"])
    tricks.remove(action["card"])
    nation = action["nation"]
    strength = mover["strength"] | {nation: mover["strength"][nation] + JOKER}
    jokers = [*mover["jokers"], nation]
    return _with_mover(view, tricks=tricks, trick_used=True, jokers=jokers, strength=strength)


def _with_mover(view, **fields):
    players = list(view["players"])
    players[view["to_move"]] = players[view["to_move"]] | fields
    return view | {"players": players}

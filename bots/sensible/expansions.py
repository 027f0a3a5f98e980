"""What the actions of the expansions are worth to the player to move: one function each, in the table at the end."""

import random
from functools import lru_cache

LATER_VETO = 0.25  # what a captain gains in each later turn of the opponent; measured by playing rounds on
SAMPLES = 18  # rolls of many dice to judge "reroll all" by; the same ones every time


def crazy_captain(worths, position, _):
    """The lookahead sees one turn of the opponent only; in those after it the captain helps as well."""
    played = position.spending("crazy_captain").under(captain=1)
    return worths.best_placement(played) + LATER_VETO * max(0, position.left()[1] - 1)


def no_shanghai(worths, position, _):
    return worths.best_placement(position.spending("no_shanghai").under(is_banned=True))


def reroll_all(worths, position, _):
    """The mean of some rolls of all my dice, each with the die kept back that looks best if the round ended."""
    rolled = position.spending("no_shanghai")._replace(placed=((0,) * 6, position.placed[1]))
    rolls = sample_rolls(sum(position.placed[0]) + 2)
    return sum([best_kept_back(worths, rolled._replace(dice=roll)) for roll in rolls]) / len(rolls)


def best_kept_back(worths, position):
    after = [kept_back(position, die, end) for die in sorted(set(position.dice)) for end in position.ends()]
    best = max(after, key=lambda each: worths.lookahead(each).ended(each.cells()))
    return worths.waiting(best)


def keep_back(worths, position, action):
    return worths.waiting(kept_back(position, action["die"], action.get("one") or position.one_at))


def kept_back(position, die, end):
    dice = list(position.dice)
    dice.remove(die)
    return position.placing(tuple(dice), end)


def feed(worths, position, _):
    return worths.best_placement(position.spending("sharks")._replace(is_feeding=True))


def exchange(worths, position, action):
    back = position.spending("sharks").taking_back(action["back"])
    return worths.best_placement(back._replace(to_place=2, must_place=2))


def doubles(worths, position, _):
    return worths.rolling(position.spending("doubles"))


def roll_one(worths, position, _):
    """One die stays, the other one falls on one of the five other faces: if not, the question comes again."""
    die = position.dice[0]
    after = [worths.best_placement(position._replace(dice=(die, face))) for face in range(1, 7) if face != die]
    return sum(after) / len(after)


def take_doubles(worths, position, action):
    """I place nothing, and if the numbering is open, choose it."""
    mine, theirs = position.tricks
    theirs = tuple([kind for kind in theirs if kind != "doubles"])
    taken = position._replace(tricks=(tuple(sorted([*mine, "doubles"])), theirs))
    return worths.waiting(taken._replace(one_at=action.get("one") or position.one_at))


@lru_cache(maxsize=None)
def sample_rolls(count):
    """Some rolls of so many dice, in which each die shows every face equally often."""
    rng = random.Random(count)
    each_die = [rng.sample([*range(1, 7)] * (SAMPLES // 6), k=SAMPLES) for _ in range(count)]
    return [tuple(sorted(roll)) for roll in zip(*each_die)]


WORTHS = {each.__name__: each for each in (crazy_captain, no_shanghai, reroll_all, keep_back, feed, exchange, doubles)}
WORTHS |= {each.__name__: each for each in (roll_one, take_doubles)}

"""The points of Shanghaien by a scorer of the tests' own, written from the rule text."""

from arena.games.api import Json


def points_by_the_text(mine: dict[str, Json], theirs: dict[str, Json]) -> int:
    """A scorer of its own, from what lies open before both players."""
    crews = []
    for side in (mine, theirs):
        crew: dict[str, int] = {}
        for nation, value in (sailor.split() for sailor in side["sailors"]):
            crew[nation] = crew.get(nation, 0) + int(value)
        for nation in side["jokers"]:
            crew[nation] += 2
        crews.append(crew)
    own, other = crews
    points = len(mine["tricks"])
    for nation, strength in own.items():
        if nation not in other:
            points += strength
        elif strength > other[nation]:
            points += other[nation]
    return points

#!/usr/bin/env python3
"""A GTP engine for go, hex and othello that plays the first point it may; its argument names a fault."""

import sys

FAULT = sys.argv[1] if len(sys.argv) > 1 else ""
LETTERS = "abcdefghjklmnopqrst" if FAULT == "go" else "abcdefghijklmnopqrs"
WAYS = [(x, y) for x in (-1, 0, 1) for y in (-1, 0, 1) if x or y]
COMMANDS = (
    "protocol_version name list_commands boardsize clear_board komi play genmove time_settings time_left level quit"
)
size, stones = 19, dict[tuple[int, int], str]()


def turned(point: tuple[int, int], colour: str) -> list[tuple[int, int]]:
    """Stones of othello that a move turns."""
    found: list[tuple[int, int]] = []
    for x, y in WAYS:
        line, (column, row) = [], point
        while stones.get((column := column + x, row := row + y), colour) != colour:
            line.append((column, row))
        found += line if (column, row) in stones else []
    return found


def place(colour: str, vertex: str) -> None:
    """Put a stone there."""
    if vertex.lower() != "pass":
        point = LETTERS.index(vertex[0].lower()), int(vertex[1:]) - 1
        for turn in turned(point, colour) if FAULT == "othello" else []:
            stones[turn] = colour
        stones[point] = colour


def choose(colour: str) -> str:
    """Choose a vertex for `genmove`."""
    points = [(column, row) for row in range(size) for column in range(size) if (column, row) not in stones]
    points = [point for point in points if FAULT != "othello" or turned(point, colour)]
    vertex = f"{LETTERS[points[0][0]].upper()}{points[0][1] + 1}" if points else "pass"
    if FAULT != "resign":
        place(colour, vertex)
    return {"resign": "resign", "illegal": "Z99", "go": "pass" if len(stones) > 3 else vertex}.get(FAULT, vertex)


def answer(words: list[str]) -> str:
    """Answer a command."""
    global size  # noqa: PLW0603
    match words:
        case ["protocol_version"]:
            return "1" if FAULT == "old" else "2"
        case ["list_commands"]:
            return COMMANDS.replace(" ", "\n")
        case ["boardsize", text]:
            size = int(text)
        case ["clear_board"]:
            stones.clear()
            if FAULT == "othello":
                stones.update({(3, 3): "white", (4, 4): "white", (3, 4): "black", (4, 3): "black"})
        case ["play", colour, vertex]:
            place(colour, vertex)
        case ["genmove", colour]:
            return choose(colour)
    return ""


for line in sys.stdin:
    sys.stderr.write(f"> {line}")
    sys.stderr.flush()
    words = line.split()
    if FAULT == "nonsense":
        sys.stdout.write("thinking ...\n\nmore\x00\n\n")
    sys.stdout.write(f"= {answer(words)}\n\n" if words[0] in COMMANDS.split() else "? unknown command\n\n")
    sys.stdout.flush()
    if words[0] == "quit":
        break

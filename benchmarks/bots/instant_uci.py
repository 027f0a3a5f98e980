"""An instant chess engine: answers `go` with the next move of the fixed game in the file it is given."""

import sys
from pathlib import Path

moves = Path(sys.argv[1]).read_text(encoding="ascii").split()
ply = 0
for line in sys.stdin:
    answer = ""
    if line.startswith("position"):
        ply = len(line.partition(" moves ")[2].split())
    elif line.startswith("go"):
        answer = f"bestmove {moves[ply]}"
    elif line.startswith("isready"):
        answer = "readyok"
    elif line.startswith("uci") and not line.startswith("ucinewgame"):
        answer = "id name instant\nuciok"
    elif line.startswith("quit"):
        break
    if answer:
        print(answer, flush=True)

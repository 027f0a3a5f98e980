"""The dialogue with an engine that speaks UCI. A position is the start of the game and all moves since."""

from child import EngineFault

FIELDS = set("depth seldepth time nodes pv multipv score currmove currmovenumber hashfull nps tbhits cpuload".split())
DEFAULTS = {"Ponder": "false", "Threads": "1"}  # some engines take as many threads as the machine has cores
SHOWN = ("depth", "score", "nodes", "time", "pv")


class Uci:
    """An engine that speaks UCI; `go` are words after `go` in place of the time, such as `nodes 5000`."""

    def __init__(self, child, options, go):
        self.child, self.options, self.go = child, options, go
        self.capabilities = ()
        self.opening = self.searched = 0  # numbers of moves: of the opening, and before the last search

    def start(self, until):
        """Start the dialogue, and set the options; EngineFault for one that the engine does not have."""
        lines = [line.split() for line in self.ask("uci", "uciok", until)]
        options = [line for line in lines if line[:2] == ["option", "name"] and "type" in line]
        known = {" ".join(line[2 : line.index("type")]).lower() for line in options}
        for name, value in (*((name, DEFAULTS[name]) for name in DEFAULTS if name.lower() in known), *self.options):
            if name.lower() not in known:
                raise EngineFault(f"the engine has no option {name}; it has {', '.join(sorted(known))}")
            self.child.send(f"setoption name {name} value {value}")
        self.capabilities = ("evaluate",) if "multipv" in known else ()
        self.sync(until)

    def ask(self, command, last_word, until):
        """Return the lines of the answer to a command, up to the one with this word."""
        self.child.send(command)
        answer = []
        for line in self.child.lines(command, until):
            answer = [*answer[-1000:], line]
            if line == last_word:
                return answer

    def sync(self, until):
        """Wait until the engine has done what it was told."""
        self.ask("isready", "readyok", until)

    def new_game(self, message, until):
        """Begin a match."""
        self.opening = len((message["options"].get("opening") or {}).get("moves", ()))
        self.searched = -1
        self.child.send("ucinewgame")
        self.sync(until)

    def choose(self, request, plan):
        """Return the engine's move, and a note with its depth, score and line."""
        view = request["view"]
        if "start" not in view:
            raise EngineFault("the game has no FEN: an engine of UCI plays openspiel:chess")
        if self.go:
            self.search_forced_moves(view, plan)
        best, infos = self.search(view, view["moves"], self.go or time_words(view, plan), plan)
        self.searched, info = len(view["moves"]), infos.get(best, {})
        return best, ", ".join(f"{name} {' '.join(info[name])}" for name in SHOWN if name in info)

    def search_forced_moves(self, view, plan):
        """Search where nobody asked because one move was legal: then the hash is as if arena had asked."""
        moves = view["moves"]
        if self.searched < 0:
            self.searched = self.opening + (len(moves) - self.opening) % 2 - 2
        for count in range(self.searched + 2, len(moves), 2):
            self.search(view, moves[:count], self.go, plan)

    def search(self, view, moves, words, plan):
        """Return the best move, and the last `info` of each move; `stop` is sent when the plan says so."""
        self.child.drop_lines()
        self.child.send(f"position fen {view['start']}" + f" moves {' '.join(moves)}" * bool(moves))
        self.child.send(f"go {words}")
        infos = {}
        for line in self.child.lines(f"go {words}", plan.end, (plan.stop_at, lambda: self.child.send("stop"))):
            first, _, rest = line.partition(" ")
            if first == "bestmove":
                return (*rest.split(), "")[0], infos
            fields = parse_info(rest.split()) if first == "info" else {}
            if fields.get("score") and fields.get("pv"):
                infos[fields["pv"][0]] = fields

    def evaluate(self, message, plan):
        """Return the expected score of each legal action by the engine's own scale, all in one search."""
        view, moves = message["view"], [action["move"] for action in message["legal"]]
        self.child.send(f"setoption name MultiPV value {len(moves)}")
        _, infos = self.search(view, view["moves"], f"movetime {plan.told_ms:.0f}", plan)
        self.child.send("setoption name MultiPV value 1")
        values = {move: value_of(*info["score"][:2]) for move, info in infos.items() if len(info["score"]) > 1}
        return [values.get(move, min(values.values(), default=0.5)) for move in moves]


def value_of(kind, number):
    """Return the expected score that 400 centipawns make 10 to 1, as 400 points of Elo do; 1 or 0 for a mate."""
    if kind == "mate":
        return float(int(number) > 0)
    return 1 / (1 + 10 ** (-min(max(int(number), -4000), 4000) / 400))


def time_words(view, plan):
    """Return the words after `go` that tell the time: of this move, or in the banks of both sides."""
    if plan.is_for_move:
        return f"movetime {plan.told_ms:.0f}"
    own, other, step = (int(number) for number in (plan.told_ms, plan.other_ms, plan.increment_ms))
    white, black = (own, other) if view["fen"].split()[1] == "w" else (other, own)
    return f"wtime {white} btime {black}" + f" winc {step} binc {step}" * bool(step)


def parse_info(words):
    """Return the fields of an `info` line: name -> words."""
    fields, name = {}, ""
    for word in words:
        if word == "string":
            break
        if word in FIELDS:
            name, fields[word] = word, []
        elif name:
            fields[name].append(word)
    return fields

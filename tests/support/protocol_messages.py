"""One message of each type, for tests of their order, their lines and their schema."""

from arena.protocol import messages as m

HELLO = m.Hello(
    protocols=(1,),
    minor=0,
    game="nim",
    rules="1",
    options={"heaps": [1, 2]},
    capabilities=("events", "simulate"),
    limits=m.LineLimits(line_to_bot=1, line_from_bot=1, startup_ms=1),
)
START = m.MatchStart(
    match="m",
    seat=0,
    players=("a", "b"),
    protocol=1,
    game="nim",
    options={},
    clock=m.ClockTerms(decides="wall", move_ms=0.5, bank_ms=0, wall_ms=1),
    bot_seed=2**52,
)
REQUEST = m.Request(id=5, match="m", view={}, events=(), legal=None, clock=m.TimeLeft(move_ms=1, bank_ms=0))
EVALUATE = m.Evaluate(id=5, match="m", view={}, events=(), legal=({},), budget_ms=1)
SIMULATED = m.Simulated(id=5, query=1, result={}, refused=None, left=0)
EVENT = m.EventMessage(match="m", what=m.ActionEvent(seat=0, action={}))
ERROR = m.ErrorMessage(code="crash", message="it ended", hint="", fatal=False, got="")
END = m.MatchEnd(
    match="m",
    ranks=(0, 1),
    scores=None,
    termination="crash",
    at_fault=1,
    events=(),
    time=m.TimeUsed(moves=0, cpu_ms=0, wall_ms=0.25),
)
QUIT = m.Quit(reason="no more matches", grace_ms=1000)
TO_BOT: tuple[m.ToBot, ...] = (HELLO, START, REQUEST, EVALUATE, SIMULATED, EVENT, ERROR, END, QUIT)
FROM_BOT: tuple[m.FromBot, ...] = (
    m.BotHello(protocols=(1,)),
    m.Ready(match="m"),
    m.Answer(id=5, action=0),
    m.Evaluation(id=5, values=(0.5,), errors=(0.0,)),
    m.Simulate(id=5, query=1, what={}),
)

"""The driver of a league: chunks go out in a sliding window, finished blocks come in and are handed on at once.

Rule: the only loop that waits for workers. It never waits without a deadline, hands on each result exactly once, and
leaves storing to the function it was given.
"""

import logging
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, CancelledError, Future, wait
from typing import Final

from msgspec.structs import replace

from arena.errors import HarnessFault, MachineFault
from arena.league.pool import Backend
from arena.league.schedule import Chunk, Fixture, PlayedBlock
from arena.text import counted

ATTEMPTS: Final = 3
_LOOK_EVERY_S: Final = 0.5
_NAMED: Final = 3
log: Final = logging.getLogger("arena.league")


class BlocksLost(HarnessFault):
    """Some blocks could not be played; all others were, and are committed."""


Flight = dict["Future[list[PlayedBlock]]", Chunk]


def run(
    chunks: Iterator[Chunk],
    backend: Backend,
    *,
    commit: Callable[[list[PlayedBlock]], None],
    tick: Callable[[], None] = lambda: None,
    then: Callable[[], Iterator[Chunk] | None] = lambda: None,
) -> None:
    """Play all chunks. `commit` gets the blocks of each finished chunk; `tick` is called about twice a second.

    When everything is committed and nothing is in flight, `then` is asked for more: the chunks of the next round, None
    if there is none. So no round begins before all earlier ones are complete; it is not asked after a block was lost.

    A worker hands a long chunk back half played; its rest goes out at once. A chunk whose worker dies is played again;
    after three deaths it is halved, so that one poisonous block costs nobody else's results. A block that a worker
    found void three times is left out. BlocksLost if single blocks could not be played, all others have been by then,
    and the same call with what is left tries them again. HarnessFault at once if the backend takes no more chunks.
    """
    again: list[Chunk] = []
    lost: list[str] = []
    flight: Flight = {}
    is_done = False
    try:
        while True:
            if not _launch(chunks, again, flight, backend) and not flight:
                more = None if lost else then()
                if more is None:
                    break
                chunks = more
                continue
            finished, _ = wait(flight, timeout=_LOOK_EVERY_S, return_when=FIRST_COMPLETED)
            landed = [(future, flight.pop(future)) for future in finished]
            for future, chunk in landed:
                error = _failure(future)
                if error is not None:
                    _try_again(chunk, error, again, lost)
                else:
                    _go_on(chunk, future.result(), again, lost)
            _launch(chunks, again, flight, backend)  # before the commit, so that no worker waits for the disk
            for future, _chunk in landed:
                if _failure(future) is None:
                    commit([block for block in future.result() if not block.void])
            tick()
        is_done = True
    finally:
        backend.close(is_interrupted=not is_done)
    if lost:
        more_lost = f" and {len(lost) - _NAMED} more (see the log)" if lost[_NAMED:] else ""
        raise BlocksLost(f"{counted(len(lost), 'block')} could not be played, {'; '.join(lost[:_NAMED])}{more_lost}")


def _launch(chunks: Iterator[Chunk], again: list[Chunk], flight: Flight, backend: Backend) -> bool:
    """Fill the window; whether anything was launched."""
    launched = False
    while len(flight) < backend.slots():
        chunk = again.pop(0) if again else next(chunks, None)
        if chunk is None:
            break
        try:
            flight[backend.submit(chunk)] = chunk
        except BrokenExecutor as error:
            raise MachineFault(f"{error}; what is stored is safe, and the same command continues") from error
        launched = True
    return launched


def _failure(future: "Future[list[PlayedBlock]]") -> BaseException | None:
    """What became of a finished future; a distributed executor cancels by itself what its lost workers had."""
    if future.cancelled():
        return CancelledError("the executor gave it up")
    error = future.exception()
    return HarnessFault("it came back without a block") if error is None and not future.result() else error


def _go_on(chunk: Chunk, played: list[PlayedBlock], again: list[Chunk], lost: list[str]) -> None:
    """Queue what a worker left of a long chunk. It did not fail, so this is the same attempt. Name what stays void."""
    for block in played:
        if block.void:
            lost.append(f"{_named(chunk, (block.fixture,))}: {block.void}")
            log.error("%s", lost[-1])
    there = {block.fixture for block in played}
    rest = tuple(fixture for fixture in chunk.fixtures if fixture not in there)
    if rest:
        again.append(replace(chunk, fixtures=rest))


def _try_again(chunk: Chunk, error: BaseException, again: list[Chunk], lost: list[str]) -> None:
    what = _named(chunk, chunk.fixtures)
    reason = "its worker died" if isinstance(error, BrokenExecutor) else f"{type(error).__name__}: {error}"
    log.error("%s, attempt %d: %s", what, chunk.attempt, reason, exc_info=error)
    if chunk.attempt < ATTEMPTS:
        again.append(replace(chunk, attempt=chunk.attempt + 1))
    elif len(chunk.fixtures) > 1:
        half = len(chunk.fixtures) // 2
        again.append(replace(chunk, fixtures=chunk.fixtures[:half], attempt=1))
        again.append(replace(chunk, fixtures=chunk.fixtures[half:], attempt=1))
    else:
        lost.append(f"{what}: {reason}")


def _named(chunk: Chunk, fixtures: tuple[Fixture, ...]) -> str:
    """`league first, 5f0c1d7e2a94 block 3 (greedy v random)`."""
    first, last = fixtures[0].block, fixtures[-1].block
    blocks = f"block {first}" if first == last else f"blocks {first} to {last}"
    players = " v ".join(player.name for player in chunk.pairing.players)
    return f"league {chunk.tournament}, {chunk.pairing.key} {blocks} ({players})"

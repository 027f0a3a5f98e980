"""Output without end costs the flooder its match and the referee next to no memory."""

import pytest
from support.hostile_play import CLOCK, against, elapsed_s, forget_peak, hostile, resident_mb, slack_s

from arena.match.record import MatchRecord

pytestmark = pytest.mark.process

MOST_MB = 20.0
LONGER = type(CLOCK)(move_ms=400, bank_ms=0, wall_ms=800, startup_ms=10_000)

FLOODS = {
    "flood-lines": "protocol_violation",
    "flood-blank": "protocol_violation",
    "flood-stale": "protocol_violation",
    "flood-endless": "malformed_reply",
    "flood-stderr": "timeout",
}


@pytest.mark.parametrize("mode", FLOODS)
def test_a_flood_ends_with_the_clock_and_is_not_kept(mode: str) -> None:
    """As fast as the bot can write, for the whole of its time."""
    records: list[MatchRecord] = []
    against(hostile("exit-0").bot_player)  # what is imported and cached at first is not the flood's
    before_mb = resident_mb()
    forget_peak()
    with hostile(mode, clock=LONGER) as bot:
        took_s = elapsed_s(lambda: records.append(against(bot.bot_player, clock=LONGER)))

    assert records[0].termination.value == FLOODS[mode]
    assert resident_mb("VmHWM") - before_mb < MOST_MB
    assert took_s < 0.8 + 2 * slack_s()
    assert records[0].fault is not None
    assert len(records[0].fault.stderr) <= 4000


def test_a_kept_transcript_is_bounded_too() -> None:
    """Whoever asks for the whole transcript gets the first thousand useless lines, not all of them."""
    bot = hostile("flood-lines", clock=LONGER)
    bot.bot_player.transcript = type(bot.bot_player.transcript)()
    record = against(bot.bot_player, clock=LONGER)

    assert 1000 < len(bot.bot_player.transcript) < 1100
    assert record.seats[0].ignored["stray"] > 1100

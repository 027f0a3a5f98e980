"""Times of hand-ins: by the clock of this machine, never before another one, and corrected by the organiser alone.

Rule: what the clock said stays; a correction stands beside it, with its maker.
"""

import sqlite3
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final, NamedTuple

from arena.errors import DamagedStore

TABLES: Final = (
    # Each hand-in of a submitted bot; times are UTC in ISO 8601.
    """CREATE TABLE hand_in (
        name TEXT NOT NULL, at TEXT NOT NULL, digest TEXT NOT NULL, PRIMARY KEY (name, at, digest)
    ) WITHOUT ROWID""",
    """CREATE TABLE correction (
        name TEXT NOT NULL, was TEXT NOT NULL, digest TEXT NOT NULL, made_at TEXT NOT NULL, at TEXT NOT NULL,
        maker TEXT NOT NULL, PRIMARY KEY (name, was, digest, made_at)
    ) WITHOUT ROWID""",
    # The clock at the last hand-in.
    "CREATE TABLE clock (id INTEGER PRIMARY KEY CHECK (id = 1), boot TEXT NOT NULL, booted_s REAL NOT NULL)",
)
_CORRECTIONS: Final = "correction c ON (c.name, c.was, c.digest) = (h.name, h.at, h.digest)"
HAND_INS: Final = (
    "SELECT h.name, h.at, h.digest, ifnull(c.at, h.at) FROM bot JOIN hand_in h ON h.digest = bot.digest"  # noqa: S608
    f" LEFT JOIN {_CORRECTIONS} ORDER BY made_at"
)
"""The hand-ins of listed bots by name, old time and hash, once for each correction, the last one last."""
LAST_CLOCK: Final = "SELECT boot, booted_s, (SELECT max(at) FROM hand_in) FROM clock"
CORRECTIONS: Final = "SELECT name, was, digest, made_at, at, maker FROM correction ORDER BY made_at"
_LATEST: Final = f"SELECT max(h.at) FROM hand_in h LEFT JOIN {_CORRECTIONS} WHERE made_at IS NULL"  # noqa: S608 - ours
JUMP_S: Final = 60


class Moment(NamedTuple):
    """A time by the clock of this machine.

    `boot` names the time for which the machine has run, `booted_s` is its beginning in seconds of UTC by this clock.
    """

    at: datetime
    boot: str
    booted_s: float


class Correction(NamedTuple):
    """A corrected hand-in: the name and hash of the bot, the old time and the new one."""

    name: str
    was: str
    digest: str
    made_at: str
    at: str
    maker: str

    def __str__(self) -> str:
        """Describe the correction in a phrase."""
        times = f"{minute(self.at)}, before {minute(self.was)}"
        return f"hand-in of {self.name}@{self.digest[:8]}: {times}, corrected by {self.maker}"


def read_clock() -> Moment:
    """Read the clock of this machine."""
    boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    return Moment(datetime.now(UTC), boot, time.time() - time.clock_gettime(time.CLOCK_BOOTTIME))


def utc(at: datetime) -> str:
    """Return a time in the form in which times are stored and compared."""
    return at.astimezone(UTC).isoformat(timespec="microseconds")


def minute(at: str) -> str:
    """Return a stored time for people, to the minute."""
    return f"{at[:16].replace('T', ' ')} UTC"


def parse(at: str) -> datetime:
    """Return a stored time. DamagedStore for any other text."""
    try:
        return datetime.fromisoformat(at)
    except (TypeError, ValueError) as error:
        raise DamagedStore(f"a stored hand-in has no time in UTC: {error}") from None


def after(last: str | None, now: datetime) -> str:
    """Return a time to be stored: `now`, or the microsecond after the `last` one if the clock has gone back."""
    if last is None or utc(now) > last:
        return utc(now)
    return utc(parse(last) + timedelta(microseconds=1))


def jump_s(now: Moment, boot: str, booted_s: float, last: str) -> float:
    """Return the seconds by which the clock jumped since another moment, negative for a jump back.

    After a boot only a jump back is known. `last` is the time of the last hand-in, as it is stored.
    """
    return now.booted_s - booted_s if now.boot == boot else min(0.0, (now.at - parse(last)).total_seconds())


def add_hand_in(connection: sqlite3.Connection, name: str, digest: str, now: Moment) -> None:
    """Store a hand-in, after all others whose time is not corrected, within the caller's transaction."""
    (last,) = connection.execute(_LATEST).fetchone()
    connection.execute("INSERT OR REPLACE INTO hand_in VALUES (?, ?, ?)", (name, after(last, now.at), digest))
    connection.execute("INSERT OR REPLACE INTO clock VALUES (1, ?, ?)", (now.boot, now.booted_s))

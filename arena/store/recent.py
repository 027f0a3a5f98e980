"""The last matches of `arena match`: a file for each in the user's own folder of states, never in results.

Rule: only the user can read them. A match replaces an earlier one with the same id.
"""

import contextlib
import os
import re
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Final

import msgspec

from arena.errors import DamagedStore
from arena.match.record import MatchRecord, decode_record, encode_record
from arena.store.matches import LeagueSecret

MOST_RECENT: Final = 50
MATCH_ID: Final = re.compile(r"[0-9a-f]{12}-\d+-\d+")
_SUFFIX: Final = ".json"


def recent_folder() -> Path:
    """Return the folder of recent matches, by the XDG specification: a relative path in the environment is ignored."""
    state = Path(os.environ.get("XDG_STATE_HOME", ""))
    return (state if state.is_absolute() else Path.home() / ".local" / "state") / "arena" / "matches"


class RecentMatch(msgspec.Struct, frozen=True):
    """The content of a match's file; `secret` tells the origin of its luck."""

    secret: LeagueSecret
    record: msgspec.Raw


def keep_recent(records: Iterable[MatchRecord], origin: str) -> bool:
    """Keep these matches and delete the oldest ones; return False if the user has no folder that can be written.

    `origin` is the origin of the secret of their luck.
    """
    try:
        folder = recent_folder()
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        folder.chmod(0o700)
        for record in records:
            with tempfile.NamedTemporaryFile(dir=folder, delete=False) as file:  # with mode 0600
                secret = LeagueSecret(str(record.commitment or ""), origin)
                file.write(msgspec.json.encode(RecentMatch(secret, msgspec.Raw(encode_record(record)))))
            Path(file.name).replace(folder / f"{record.match}{_SUFFIX}")
        with contextlib.suppress(FileNotFoundError):  # another `arena match` deletes the oldest at the same time
            kept = sorted(folder.iterdir(), key=lambda path: path.lstat().st_mtime_ns, reverse=True)
            for path in kept[MOST_RECENT:]:
                path.unlink()
    except (OSError, RuntimeError):  # RuntimeError: a user without a home
        return False
    return True


def recent_match(match_id: str) -> tuple[MatchRecord, LeagueSecret] | tuple[None, None]:
    """Return the match of that id and the origin of its luck; (None, None) if it is not kept.

    DamagedStore if the file holds no match.
    """
    if not MATCH_ID.fullmatch(match_id):
        return None, None
    with contextlib.suppress(OSError, RuntimeError):
        path = recent_folder() / f"{match_id}{_SUFFIX}"
        try:
            kept = msgspec.json.decode(path.read_bytes(), type=RecentMatch)
            return decode_record(bytes(kept.record)), kept.secret
        except msgspec.MsgspecError as error:
            raise DamagedStore(f"{path} holds no match: {error}") from None
    return None, None

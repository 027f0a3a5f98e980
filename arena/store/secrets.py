"""The secrets of luck of a results folder: a file for each, named by its commitment, and their use by leagues.

Rule: a secret is on the disk before the first bot starts, and nobody but its owner may read it. A league begins under
one secret and keeps it until that is revealed; a revealed secret gives no new block. Without its file a started league
does not go on: a new secret drawn silently would look like the old promise.
"""

import contextlib
import os
import re
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from msgspec.structs import replace

from arena.errors import DamagedStore, SpecError
from arena.league.tournament import Tournament
from arena.match.secret_luck import Secret
from arena.store import database, files
from arena.store.homes import sync
from arena.store.matches import LeagueSecret, MatchStore

FOLDER: Final = "secrets"
_OF_THE_OWNER: Final = 0o700
_NEW: Final = "new-secret"
_MOST_BYTES: Final = 64 << 10
_COMMITMENT: Final = re.compile(r"[0-9a-f]{64}")


def read_secret(path: Path) -> Secret:
    """Read the secret in a file that a person gives. SpecError without one; it quotes nothing of the file."""
    try:
        with path.open("rb") as file:
            content = file.read(_MOST_BYTES)
    except OSError as error:
        raise SpecError(f"{path}: {error.strerror}; expected a secret file") from None
    return _parse_secret(content, path)


def _parse_secret(content: bytes, path: Path) -> Secret:
    """Parse a secret. SpecError if these bytes are none; it quotes nothing of them."""
    try:
        return Secret.read(content.decode(), str(path))
    except UnicodeDecodeError:
        raise SpecError(f"{path}: this is no secret file: found bytes that are not UTF-8") from None


class SecretFiles:
    """The folder `secrets` of a results folder."""

    def __init__(self, results: Path) -> None:
        self._results = results
        self.folder = results / FOLDER

    def path(self, commitment: str) -> Path:
        """Return the path of the secret of that commitment, whether the file exists or not."""
        return self.folder / commitment

    def keep(self, secret: Secret) -> None:
        """Write the secret to the disk, durable with its folder; do nothing if it is there.

        SpecError if the folder cannot be written, DamagedStore if its file holds something else.
        """
        if self.find(secret.commitment) is not None:
            return
        try:
            self._write_durably(secret)
        except OSError as error:
            raise database.unwritable(self.folder.parent, error) from None

    def find(self, commitment: str) -> Secret | None:
        """Read the secret of that commitment; None if its file is missing, or belongs to another user.

        DamagedStore if the file holds another secret, or none.
        """
        path = self.path(commitment)
        if not _COMMITMENT.fullmatch(commitment):  # other text could name any file
            raise DamagedStore(f"{path}: {commitment!a:.80} is no commitment; put a copy of the database back")
        try:
            secret = _parse_secret(files.read_plain(self._results, f"{FOLDER}/{commitment}", _MOST_BYTES), path)
        except (FileNotFoundError, PermissionError):
            return None
        except SpecError as error:
            raise DamagedStore(f"{error}; put a copy back") from None
        if secret.commitment != commitment:
            raise DamagedStore(f"{path}: the secret in it has the commitment {secret.commitment}; put a copy back")
        return secret

    def _write_durably(self, secret: Secret) -> None:
        """Write the secret to a new file, flush it to the disk, and rename it to its commitment."""
        files.make_folder(self._results, FOLDER)
        with files.open_folder(self._results, FOLDER) as folder:
            os.fchmod(folder, _OF_THE_OWNER)
            with contextlib.suppress(FileNotFoundError):  # left by a killed program; no other writes here
                os.unlink(_NEW, dir_fd=folder)
            number = files.open_file(self._results, f"{FOLDER}/{_NEW}", os.O_WRONLY | os.O_CREAT | os.O_EXCL)
            with os.fdopen(number, "w", encoding="ascii") as file:
                file.write(f"{secret.reveal()}\n")
                file.flush()
                os.fsync(file.fileno())
            os.replace(_NEW, secret.commitment, src_dir_fd=folder, dst_dir_fd=folder)
            os.fsync(folder)
        sync(self._results)


class SecretKeeper:
    """The choice of the secrets under which the leagues of a results folder draw their luck."""

    def __init__(self, store: MatchStore, results: Path) -> None:
        self._store = store
        self._files = SecretFiles(results)

    def choose(
        self, tournament: Tournament, given: Secret | None, has_work: Callable[[Tournament], bool]
    ) -> tuple[Tournament, Secret | None]:
        """Choose the secret for new blocks, and store a new one if need be; return the tournament with all commitments.

        One is drawn for a league without any, and, if it `has_work`, when the last was revealed or a run of submitted
        bots under it has ended. The secret is None if the last was revealed and there is no work. `given` comes from
        the command line, to repeat a league. SpecError if it cannot be used, or the file of the secret is missing.
        """
        if tournament.seed is not None:
            if given is not None and given.seed is None:
                raise SpecError(
                    f"league {tournament.name} has a public seed and a secret file was given: its luck cannot follow"
                    f" from both; take `seed:` out of the tournament file, or leave --secret-file away"
                )
            public = Secret.public(tournament.seed)
            self._store.add_secret(tournament.name, public.commitment, "public")
            return tournament, public
        known = self._add_given(tournament.name, given) if given else self._store.secrets(tournament.name)
        known = known or self._add_secret(tournament.name, Secret.random(), "drawn")
        is_used_up = known[-1].revealed_at or self._has_ended(tournament, known[-1])
        if is_used_up and has_work(_with_commitments(tournament, known)):
            known = self._add_secret(tournament.name, Secret.random(), "drawn")
        secret = None if known[-1].revealed_at else self._read_last_secret(tournament.name, known)
        return _with_commitments(tournament, known), secret

    def _has_ended(self, tournament: Tournament, secret: LeagueSecret) -> bool:
        """Return True if a run of submitted bots has ended under the secret, which the next one does not use."""
        ended = self._store.snapshots(tournament.name) if tournament.takes_new else ()
        return bool(ended) and secret.commitment in ended[-1].tournament.commitments

    def reveal(self, league: str, commitments: Sequence[str] = ()) -> tuple[LeagueSecret, Secret]:
        """Close a secret of a league for ever and return it: the last of `commitments`, by default the current one.

        One that is revealed is returned again. SpecError for a league with a public seed, or without the secret's file.
        """
        known = self._store.secrets(league)
        tournament = self._store.league(league)
        if tournament.seed is not None or not known:
            raise SpecError(f"league {league}: its luck follows for everybody from the public seed: nothing is secret")
        last = len(commitments or known)  # commitments are those of the league's first secrets
        secret = self._read_last_secret(league, known[:last])
        if known[last - 1].revealed_at is None:
            self._store.mark_revealed(secret.commitment, datetime.now(UTC).isoformat(timespec="seconds"))
        return self._store.secrets(league)[last - 1], secret

    def find_all(self, commitments: Iterable[str]) -> list[Secret]:
        """Return the secrets of these commitments whose files are here."""
        return [secret for commitment in commitments if (secret := self._files.find(commitment)) is not None]

    def _add_secret(self, league: str, secret: Secret, origin: str) -> tuple[LeagueSecret, ...]:
        """Write the secret to the disk, then add it to the league as the last one; return the league's secrets."""
        self._files.keep(secret)
        self._store.add_secret(league, secret.commitment, origin)
        return self._store.secrets(league)

    def _add_given(self, league: str, given: Secret) -> tuple[LeagueSecret, ...]:
        """Add the given secret to those of a league, for new blocks. SpecError if it may not be used so."""
        known, former = self._store.secrets(league), self._store.secret(given.commitment)
        if former is not None and former.revealed_at:
            raise SpecError(
                f"league {league}: the secret of commitment {given.commitment} was revealed, and is never used again:"
                " leave --secret-file away, and new blocks are drawn under a new secret;"
                " or repeat the league in another results folder (--results)"
            )
        if known and known[-1].commitment == given.commitment:
            self._files.keep(given)
            return known
        if known and not known[-1].revealed_at:
            raise SpecError(
                f"league {league} draws its luck under the secret of commitment {known[-1].commitment}; the file holds"
                f" the one of {given.commitment}: play it in another results folder (--results) or under another name"
            )
        return self._add_secret(league, given, "file")

    def _read_last_secret(self, league: str, known: tuple[LeagueSecret, ...]) -> Secret:
        """Read the last of a league's secrets. SpecError if its file is missing."""
        commitment = known[-1].commitment
        secret = self._files.find(commitment)
        if secret is None:
            raise SpecError(
                f"{self._files.path(commitment)} is missing or not yours to read: league {league} draws its luck under"
                " this secret. Put the file back or give it with --secret-file; if it is lost, give the league another"
                " name and play it anew"
            )
        return secret


def _with_commitments(tournament: Tournament, known: Iterable[LeagueSecret]) -> Tournament:
    """Return the tournament with the commitments of these secrets."""
    return replace(tournament, commitments=tuple(secret.commitment for secret in known))

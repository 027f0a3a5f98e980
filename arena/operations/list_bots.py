"""The list of bots, and the withdrawal of a submitted one."""

from pathlib import Path

import msgspec

from arena.operations.events import OnEvent, Warned, ignore
from arena.operations.request import Request
from arena.process.manifest import BotSpec
from arena.store.bots import BotStore, Submission


class ListBots(Request, frozen=True, kw_only=True):
    """The bots of a folder, the submitted and the bundled ones."""

    bots_folder: Path = Path("bots")


class WithdrawBot(Request, frozen=True, kw_only=True):
    """The submission to take off the list: `name`, which is the latest, or `name@beginning-of-hash`."""

    bot: str


class OfferedBot(msgspec.Struct, frozen=True, order=True):
    """A bot of the list. `owner` is that of a submitted bot, empty otherwise; `place` is where the bot lies."""

    bot: str
    version: str
    hash: str
    place: str
    owner: str
    description: str


def list_bots(request: ListBots, on: OnEvent = ignore) -> list[OfferedBot]:
    """List the bots, sorted by name. A bot that cannot be read is a warning."""
    store = BotStore(request.results, request.bots_folder)
    rows = [_offer(bot, f"{request.bots_folder}/") for bot in store.read_own()]
    names: set[str] = set()
    for submission in store.submissions():
        hint = f"an older version: write {submission.name}@{submission.digest[:8]}" if submission.name in names else ""
        names.add(submission.name)
        place = f"submitted {submission.submitted_at[:19]}"
        rows.append(OfferedBot(submission.name, submission.version, submission.digest, place, submission.owner, hint))
    hashes = {row.bot: row.hash for row in rows}
    for bot in store.read_bundled():
        is_hidden = hashes.get(bot.name, bot.digest) != bot.digest
        hint = f"hidden by another {bot.name}: write {bot.name}@{bot.digest[:8]}" if is_hidden else ""
        rows.append(_offer(bot, "bundled", hint))
    for error in store.unreadable():
        on(Warned(f"left out: {error}"))
    return sorted(rows)


def withdraw_bot(request: WithdrawBot) -> tuple[Submission, Submission | None]:
    """Take a submission off the list; return it, and the latest other one of its name. SpecError if there is none."""
    store = BotStore(request.results, request.results)
    gone = store.withdraw(request.bot)
    return gone, next((other for other in store.submissions() if other.name == gone.name), None)


def _offer(bot: BotSpec, place: str, hint: str = "") -> OfferedBot:
    """Return a row of the list for a bot; `hint` takes the place of its description."""
    text = hint or " ".join(bot.manifest.description.split())
    return OfferedBot(bot.name, bot.manifest.version, bot.digest, place, "", text)

"""`arena submit`: bots are checked, play a baseline, and come onto the list; one step by step, or many at once."""

import contextlib
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain, count
from pathlib import Path
from typing import Final

import click

from arena.bundled import is_path
from arena.cli.bots import told_luck
from arena.cli.completion import complete_bot
from arena.cli.edge import TerminalLine, stoppable
from arena.cli.options import FOLDER_PATH, WORKERS, MatchSetup, local_workers, option_named, width_option
from arena.cli.trials import Trials, trial_options
from arena.conformance.submission import Examined, Trial, examine_all, examine_bot
from arena.errors import CheckFailed, Interrupted, SpecError
from arena.league.progress import Progress
from arena.match.secret_luck import Secret
from arena.process.limits import Limits
from arena.process.manifest import MANIFEST, BotSpec
from arena.report.formats import listing
from arena.store import database
from arena.store.bots import BotStore, is_note
from arena.store.owners import NameTaken, look_alike, owner_named, owner_of_folder, owner_of_user, require_free
from arena.text import counted, in_one_line, printable

BASELINE: Final = "random"
"""The bundled bot that a submission meets, so that the author sees a first result."""
ACCEPTED: Final = "accepted"
UNCHANGED: Final = "unchanged"
REFUSED: Final = "refused"
_ONE_EACH: Final = "each bot needs a name of its own, and that of its folder is free for it"


@click.command()
@click.argument("bots", nargs=-1, required=True, metavar="BOT...", shell_complete=complete_bot)
@click.option("--baseline", default=BASELINE, help="The bot that each plays one block against.")
@click.option("--owner", help="Whose bots these are; default: the name of each folder, of single files you.")
@click.option("--replace", is_flag=True, help="Each is a new version of the submitted bot of its name.")
@click.option("--take-over", is_flag=True, help="Give names of other owners to the owners of these bots.")
@click.option("--workers", type=WORKERS, help="Bots examined at once; default: all cores.")
@click.option("--reports", type=FOLDER_PATH, help="Folder for a text for the author of each bot: every step, and why.")
@width_option
@trial_options
def submit(
    bots: tuple[str, ...],
    baseline: str,
    owner: str | None,
    replace: bool,
    take_over: bool,
    workers: int | None,
    reports: Path | None,
    width: int | None,
    trials: Trials,
) -> None:
    """Check each BOT, let it play a block against a baseline, and put it on the list of bots. Exit 1 if one is refused.

    Each is tried as the tournament of --for plays; without one, as `arena check` does.

    A name belongs to the owner whose bot was submitted first under it, with all names that look like it; --replace
    makes this bot the new version of its owner's. The owner of handed-in/ann is ann. The luck is drawn under a new
    secret, which is printed.

    One BOT is told step by step. Several are examined at the same time; a table at the end tells which are accepted
    and which are refused, and why. After Ctrl-C those that were accepted are on the list.

    Example: arena submit handed-in/*
    """
    setup = trials.setup
    with option_named("--baseline"):
        rival = setup.bots.find(baseline)
    with option_named("--owner"):
        claims = _Claims(setup.bots, owner and owner_named(owner), replaces=replace, takes_over=take_over)
    if len(bots) == 1 and reports is None:
        _submit_one(_Entry(bots[0]), rival, trials, claims)
        return
    entries = [
        _Entry(text, Path(text).name if is_path(text) else "") for text in dict.fromkeys(bots) if not _is_note(text)
    ]
    for each in entries:
        _read(each, trials, claims)
    for each in entries:
        _claim(each, claims)
    _refuse_same_names(entries)
    left = [each for each in entries if not each.result]
    trials.prepare(each.bot for each in left if each.bot is not None)
    with stoppable():
        try:
            _examine(left, rival, trials, claims, min(local_workers(workers, [Limits()] * 2), len(left)))
        except KeyboardInterrupt:
            missed = counted(sum(not each.result for each in left), "bot")
            raise Interrupted(f"interrupted: {missed} not examined; give the same command again") from None
        finally:
            _tell(entries, reports, width)
    if refused := sum(each.result == REFUSED for each in entries):
        raise CheckFailed(f"{refused} of {counted(len(entries), 'bot')} refused")


class _Entry:
    """A bot of the command line; its owner, empty if unknown; its result, empty until it is known, and why.

    `given`: the words of the command line; `named`: the name of the file or folder, for messages that its author reads.
    """

    def __init__(self, given: str, named: str = "") -> None:
        self.given = given
        self.named = named
        self.bot: BotSpec | None = None
        self.owner = ""
        self.result = ""
        self.text = ""
        self.report = ""

    def refuse(self, reason: str, report: str = "") -> None:
        """Note the reason; `report` is the text for the author, if otherwise."""
        self.result, self.text, self.report = REFUSED, in_one_line(reason), report or f"refused: {reason}"

    def refuse_name(self, taken: NameTaken) -> None:
        """Note that the name is another owner's, who is named to the organiser only."""
        self.refuse(str(taken), f"refused: {taken.for_author}")


class _Claims:
    """The rules by which bots get their names: all known names and owners, and what the command line says of them."""

    def __init__(self, bots: BotStore, owner: str | None, *, replaces: bool, takes_over: bool) -> None:
        self._bots, self._owner = bots, owner
        self._replaces, self.takes_over = replaces, takes_over
        self._owned = bots.owned_names()
        self._owners = set[str]()

    def owner_of(self, text: str, bot: BotSpec | None) -> str:
        """The owner of a bot that is handed in as `text`, who from now on is known. SpecError if nothing names one."""
        place = Path(text if is_path(text) or bot is None else bot.given)
        if self._owner:
            owner = self._owner
        elif bot is not None and not bot.given:  # submitted before, and named by its name
            owner = self._owned.get(bot.name) or owner_of_user()
        elif place.is_dir() and not place.is_symlink():
            owner = owner_of_folder(place)
        else:
            owner = owner_of_user()
        self._owners.add(owner)
        return owner

    def place_of(self, bot: BotSpec, owner: str) -> str:
        """The place of this very bot among those in folders; empty if it is in none.

        NameTaken if its name is another owner's, SpecError if it is that of another bot.
        """
        advice = f"choose another name in {MANIFEST if Path(bot.source).is_dir() else 'its file name'}"
        if (found := self._bots.namesake(bot)) is not None:
            namesake, place = found
            if namesake.digest != bot.digest:
                taken = f'the name "{bot.name}" is that of a bot of this arena; {advice}'
                raise NameTaken(f'the name "{bot.name}" belongs to {place}; {advice}', taken)
            return str(place)
        if not self.takes_over:
            require_free(bot.name, owner, self._owned, self._owners)
        latest = next((each for each in self._bots.submitted() if each.name == bot.name), None)
        if latest is not None and latest.digest != bot.digest and not self._replaces:
            raise SpecError(
                f'the name "{bot.name}" is taken: {latest.name} {latest.version} ({latest.digest[:8]}) was submitted at'
                f" {latest.submitted_at[:16].replace('T', ' ')} UTC. Give --replace if this is another version of that"
                f" bot; else {advice}"
            )
        return ""


def _submit_one(entry: _Entry, rival: BotSpec, trials: Trials, claims: _Claims) -> None:
    setup = trials.setup
    found = setup.bots.find(entry.given, is_handed_in=True)
    trials.plans(found, Secret.random())  # options that no game has are told first
    owner = claims.owner_of(entry.given, found)
    if place := claims.place_of(found, owner):
        click.echo(f"{found.label} is there already: {place}")
        return
    trials.prepare(iter((found,)))
    with told_luck(setup.given) as secret:
        bot = examine_bot(_trial(found, rival, trials, secret), click.echo)
    _register(bot, owner, setup, claims)
    click.echo(f"submitted: {bot.label}; a tournament may name it `{bot.name}@{bot.digest[:8]}`")


def _read(entry: _Entry, trials: Trials, claims: _Claims) -> None:
    """Read a bot of the command line, and find its owner: the bots of others get no such name, even if it is unread."""
    try:
        entry.bot = trials.setup.bots.find(entry.given, given=entry.named, is_handed_in=True)
        trials.games(entry.bot)
    except SpecError as error:
        entry.refuse(str(error))
    try:
        entry.owner = claims.owner_of(entry.given, entry.bot)
    except SpecError as error:
        entry.refuse(str(error))


def _claim(entry: _Entry, claims: _Claims) -> None:
    """Refuse a bot at once if it has no right to its name."""
    if entry.result or entry.bot is None:
        return
    try:
        place = claims.place_of(entry.bot, entry.owner)
    except NameTaken as taken:
        entry.refuse_name(taken)
    except SpecError as error:
        entry.refuse(str(error))
    else:
        entry.result, entry.text = (UNCHANGED, f"{entry.bot.label} is there already: {place}") if place else ("", "")


def _is_note(text: str) -> bool:
    """Whether it is a README or the like among bots, which `bots/*` names, too; it is told."""
    if not is_path(text) or not is_note(Path(text)):
        return False
    click.echo(f"left out: {text} is no bot", err=True)
    return True


def _refuse_same_names(entries: Sequence[_Entry]) -> None:
    """Refuse bots of one call that have one name, or of two owners names that look alike: nobody has a better right."""
    named = [(each, each.bot.name) for each in entries if each.bot is not None and each.result != REFUSED]
    rivals = {
        each: [
            other
            for other, other_name in named
            if other is not each
            and (name == other_name or (each.owner != other.owner and look_alike(name, other_name)))
        ]
        for each, name in named
    }
    for each, name in named:
        if others := ", ".join(other.given for other in rivals[each]):
            like = f'the name "{name}", or one that looks like it, is also that of'
            each.refuse(f"{like} {others}; {_ONE_EACH}", f"refused: {like} another bot; {_ONE_EACH}")


def _examine(entries: Sequence[_Entry], rival: BotSpec, trials: Trials, claims: _Claims, workers: int) -> None:
    """Examine these bots, and put each on the list as soon as it is accepted."""
    if not entries:
        return
    progress = Progress(total=len(entries))

    def words() -> str:
        refused = sum(each.result == REFUSED for each in entries)
        return f"{progress.done}/{len(entries)} bots examined, {refused} refused{progress.left()}"

    with told_luck(trials.setup.given) as secret, TerminalLine(words, progress.counts).shown() as draw:
        due = [_trial(each.bot, rival, trials, secret) for each in entries if each.bot is not None]
        with contextlib.closing(examine_all(due, workers, draw)) as results:
            for number, found in results:
                _take(entries[number], found, trials.setup, claims)
                progress.add(1, 0)


def _take(entry: _Entry, found: Examined, setup: MatchSetup, claims: _Claims) -> None:
    """Note the result of a bot; an accepted one comes onto the list."""
    if found.bot is None:
        entry.refuse(found.reason, found.report)
        return
    try:
        _register(found.bot, entry.owner, setup, claims)
    except NameTaken as taken:  # another command was quicker
        entry.refuse_name(taken)
        return
    entry.result, entry.text, entry.report = ACCEPTED, found.bot.label, found.report


def _trial(bot: BotSpec, rival: BotSpec, trials: Trials, secret: Secret) -> Trial:
    """All that decides about the bot; its meeting with the baseline is one block."""
    return Trial(bot, trials.setup.bots, trials.plans(bot, secret), trials.meeting(bot, rival, secret))


def _register(bot: BotSpec, owner: str, setup: MatchSetup, claims: _Claims) -> None:
    with contextlib.closing(database.open_for_writing(setup.results)) as connection:
        setup.bots.register(bot, owner, connection, takes_over=claims.takes_over)


def _tell(entries: Sequence[_Entry], reports: Path | None, width: int | None) -> None:
    """Print the table in lines of that width, and write a text for each author."""
    rows = [(printable(each.given), each.result or "not examined", in_one_line(each.text)) for each in entries]
    click.echo(listing(["bot", "result", "why"], rows, width))
    counts = Counter(each.result or "not examined" for each in entries)
    click.echo("\n" + ", ".join(f"{count} {result}" for result, count in counts.items()))
    if reports is not None:
        reports.mkdir(parents=True, exist_ok=True)
        for file, each in _report_files(entries):
            text = each.report or f"{each.result or 'not examined'}: {each.text}"
            (reports / file).write_text(f"{text}\n", encoding="utf-8")
        click.echo(f"a text for each author is in {reports}/")


def _report_files(entries: Sequence[_Entry]) -> Iterator[tuple[str, _Entry]]:
    """`ada.txt` for the bot ada, or for `handed-in/ada` if it cannot be read; the second of a name is `ada-2.txt`."""
    seen = set[str]()
    for each in entries:
        name = each.bot.name if each.bot is not None else Path(each.given).stem
        numbered = chain((name,), (f"{name}-{number}" for number in count(2)))
        file = next(each for each in numbered if each.casefold() not in seen)
        seen.add(file.casefold())
        yield f"{file}.txt", each

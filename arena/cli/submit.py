"""`arena submit`: bots are checked, play a baseline, and come onto the list; one step by step, or many at once."""

import contextlib
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import chain, count
from pathlib import Path
from typing import Final

import click

from arena.bundled import is_path
from arena.cli.bots import told_luck
from arena.cli.completion import complete_bot
from arena.cli.edge import TerminalLine, stoppable
from arena.cli.options import FOLDER_PATH, WORKERS, MatchSetup, option_named, width_option
from arena.cli.trials import Trials, trial_options
from arena.conformance.submission import Examined, Trial, examine_all, examine_bot
from arena.errors import CheckFailed, Interrupted, SpecError
from arena.league.progress import Progress
from arena.match.secret_luck import Secret
from arena.process.manifest import MANIFEST, BotSpec
from arena.process.portable import usable_cores
from arena.report.formats import listing
from arena.store import database
from arena.store.bots import BotStore, is_note
from arena.text import counted, printable

BASELINE: Final = "random"
"""The bundled bot that a submission meets, so that the author sees a first result."""
ACCEPTED: Final = "accepted"
UNCHANGED: Final = "unchanged"
REFUSED: Final = "refused"


@click.command()
@click.argument("bots", nargs=-1, required=True, metavar="BOT...", shell_complete=complete_bot)
@click.option("--baseline", default=BASELINE, help="The bot that each plays one block against.")
@click.option("--replace", is_flag=True, help="Each is a new version of the submitted bot of its name.")
@click.option("--workers", type=WORKERS, help="Bots examined at once; default: all cores.")
@click.option("--reports", type=FOLDER_PATH, help="Folder for a text for the author of each bot: every step, and why.")
@width_option
@trial_options
def submit(
    bots: tuple[str, ...],
    baseline: str,
    replace: bool,
    workers: int | None,
    reports: Path | None,
    width: int | None,
    trials: Trials,
) -> None:
    """Check each BOT, let it play a block against a baseline, and put it on the list of bots. Exit 1 if one is refused.

    Each is tried as the tournament of --for plays; without one, as `arena check` does.

    A name belongs to the bot that was submitted first under it; --replace makes this one its new version. The luck is
    drawn under a new secret, which is printed.

    One BOT is told step by step. Several are examined at the same time; a table at the end tells which are accepted
    and which are refused, and why. After Ctrl-C those that were accepted are on the list.

    Example: arena submit handed-in/*
    """
    setup = trials.setup
    with option_named("--baseline"):
        rival = setup.bots.find(baseline)
    if len(bots) == 1 and reports is None:
        _submit_one(bots[0], rival, trials, replace=replace)
        return
    entries = [_read(text, trials, replace=replace) for text in dict.fromkeys(bots) if not _is_note(text)]
    _refuse_same_names(entries)
    left = [each for each in entries if not each.result]
    trials.prepare(each.bot for each in left if each.bot is not None)
    with stoppable():
        try:
            _examine(left, rival, trials, min(workers or len(usable_cores()), len(left)))
        except KeyboardInterrupt:
            missed = counted(sum(not each.result for each in left), "bot")
            raise Interrupted(f"interrupted: {missed} not examined; give the same command again") from None
        finally:
            _tell(entries, reports, width)
    if refused := sum(each.result == REFUSED for each in entries):
        raise CheckFailed(f"{refused} of {counted(len(entries), 'bot')} refused")


class _Entry:
    """A bot of the command line; its result, empty until it is known, and why."""

    def __init__(self, given: str) -> None:
        self.given = given
        self.bot: BotSpec | None = None
        self.result = ""
        self.text = ""
        self.report = ""

    def refuse(self, reason: str) -> None:
        self.result, self.text, self.report = REFUSED, reason, f"refused: {reason}"


def _submit_one(text: str, rival: BotSpec, trials: Trials, *, replace: bool) -> None:
    setup = trials.setup
    found = setup.bots.find(text)
    trials.plans(found, Secret.random())  # options that no game has are told first
    if place := _place_of(setup.bots, found, replace=replace):
        click.echo(f"{found.label} is there already: {place}")
        return
    trials.prepare(iter((found,)))
    with told_luck(setup.given) as secret:
        bot = examine_bot(_trial(found, rival, trials, secret), click.echo)
    _register(bot, setup)
    click.echo(f"submitted: {bot.label}; a tournament may name it `{bot.name}@{bot.digest[:8]}`")


def _read(text: str, trials: Trials, *, replace: bool) -> _Entry:
    """A bot of the command line, refused at once if it cannot be read or has no right to its name."""
    entry, setup = _Entry(text), trials.setup
    try:
        entry.bot = setup.bots.find(text)
        trials.games(entry.bot)
        place = _place_of(setup.bots, entry.bot, replace=replace)
    except SpecError as error:
        entry.refuse(str(error))
    else:
        entry.result, entry.text = (UNCHANGED, f"{entry.bot.label} is there already: {place}") if place else ("", "")
    return entry


def _is_note(text: str) -> bool:
    """Whether it is a README or the like among bots, which `bots/*` names, too; it is told."""
    if not is_path(text) or not is_note(Path(text)):
        return False
    click.echo(f"left out: {text} is no bot", err=True)
    return True


def _refuse_same_names(entries: Sequence[_Entry]) -> None:
    """No two bots of one call have one name: nobody could say which of them it means."""
    named: defaultdict[str, list[_Entry]] = defaultdict(list)
    for each in entries:
        if each.bot is not None:
            named[each.bot.name].append(each)
    for name, same in named.items():
        for each in same if same[1:] else ():
            others = ", ".join(other.given for other in same if other is not each)
            each.refuse(f'the name "{name}" is also that of {others}; each bot needs a name of its own')


def _examine(entries: Sequence[_Entry], rival: BotSpec, trials: Trials, workers: int) -> None:
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
                _take(entries[number], found, trials.setup)
                progress.add(1, 0)


def _take(entry: _Entry, found: Examined, setup: MatchSetup) -> None:
    """The result of a bot; an accepted one comes onto the list."""
    if found.bot is None:
        entry.refuse(found.reason)
        entry.report = found.report
        return
    _register(found.bot, setup)
    entry.result, entry.text = ACCEPTED, found.bot.label
    entry.report = f"{found.report}\naccepted: {found.bot.label}"


def _trial(bot: BotSpec, rival: BotSpec, trials: Trials, secret: Secret) -> Trial:
    """All that decides about the bot; its meeting with the baseline is one block."""
    return Trial(bot, trials.setup.bots, trials.plans(bot, secret), trials.meeting(bot, rival, secret))


def _register(bot: BotSpec, setup: MatchSetup) -> None:
    with contextlib.closing(database.open_for_writing(setup.results)) as connection:
        setup.bots.register(bot, connection)


def _tell(entries: Sequence[_Entry], reports: Path | None, width: int | None) -> None:
    """Print the table in lines of that width, and write a text for each author."""
    rows = [(printable(each.given), each.result or "not examined", printable(each.text)) for each in entries]
    click.echo(listing(["bot", "result", "why"], rows, width))
    counts = Counter(each.result or "not examined" for each in entries)
    click.echo("\n" + ", ".join(f"{count} {result}" for result, count in counts.items()))
    if reports is not None:
        reports.mkdir(parents=True, exist_ok=True)
        for file, each in _report_files(entries):
            (reports / file).write_text(f"{each.report or each.text}\n", encoding="utf-8")
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


def _place_of(bots: BotStore, bot: BotSpec, *, replace: bool) -> str:
    """The place of this very bot among those in folders; empty if it is in none. SpecError if its name is taken.

    A submission of a name in the folder would leave every tournament file that says it without an answer to which is
    meant. Arena knows no accounts: `--replace` is the word of a person, or of a course's script, that the submitted bot
    of that name is theirs.
    """
    where = MANIFEST if Path(bot.source).is_dir() else "its file name"
    if (found := bots.namesake(bot)) is not None:
        namesake, place = found
        if namesake.digest != bot.digest:
            raise SpecError(f'the name "{bot.name}" belongs to {place}; choose another name in {where}')
        return str(place)
    latest = next((each for each in bots.submitted() if each.name == bot.name), None)
    if latest is not None and latest.digest != bot.digest and not replace:
        raise SpecError(
            f'the name "{bot.name}" is taken: {latest.name} {latest.version} ({latest.digest[:8]}) was submitted at'
            f" {latest.submitted_at[:16].replace('T', ' ')} UTC. Give --replace if this is another version of that bot;"
            f" else choose another name in {where}"
        )
    return ""

"""The submission of bots: each is checked, plays a baseline, and is put on the list of bots under its own name."""

import contextlib
from collections.abc import Iterable, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Final

import msgspec

from arena.bundled import bundled_folder, is_path
from arena.errors import SpecError
from arena.league.progress import RunProgress
from arena.match.secret_luck import Secret
from arena.operations.events import Counted, Event, OnEvent, Warned, ignore
from arena.operations.examination import Examination, Trial, examine_all, examine_bot
from arena.operations.new_bot import TEMPLATES
from arena.operations.playing import local_workers, naming_option
from arena.operations.trials import TrialRequest, Trials, choose_luck
from arena.process.limits import Limits
from arena.process.manifest import MANIFEST, BotSpec
from arena.process.scratch import scratch_folder
from arena.store import database
from arena.store.authors import read_authors
from arena.store.bots import is_note
from arena.store.equal_files import find_equal_files
from arena.store.hand_ins import HandIn, read_hand_ins
from arena.store.owners import NameTaken, look_alike, normalize_owner, owner_of_folder, owner_of_user, require_free
from arena.store.times import JUMP_S, read_clock
from arena.text import join_words

_ONE_EACH: Final = "each bot needs a name of its own, and that of its folder is free for it"


class SubmitBots(TrialRequest, frozen=True, kw_only=True):
    """Bots to submit, names or paths, and the bot against which each plays one block.

    `owner` is by default the owner of each folder, and the user for single files. With `replace` each is a new version
    of the submitted bot of its name; with `take_over` it gets names of other owners. `workers` bots are examined at
    once.
    """

    bots: tuple[str, ...]
    baseline: str = "random"
    owner: str | None = None
    replace: bool = False
    take_over: bool = False
    workers: int | None = None
    authors: Path | None = None


class SubmissionVerdict(StrEnum):
    """The result of a submission."""

    ACCEPTED = "accepted"
    UNCHANGED = "unchanged"
    REFUSED = "refused"
    NOT_EXAMINED = "not examined"
    MISSING = "missing"
    LEFT_OUT = "left out"


_WITHOUT_BOT: Final = {SubmissionVerdict.REFUSED, SubmissionVerdict.MISSING, SubmissionVerdict.LEFT_OUT}
"""Verdicts of an author whose bots stay as they are."""


class SubmittedBot(msgspec.Struct):
    """A submitted bot: `text` as the user gave it, the bot as far as it could be read, and the verdict.

    `reason` is for the organiser; `for_author`, `details` and `events` are for the author of the bot. `place` is the
    path of a bot that was found in a hand-in.
    """

    text: str
    bot: BotSpec | None = None
    owner: str = ""
    verdict: SubmissionVerdict = SubmissionVerdict.NOT_EXAMINED
    reason: str = ""
    for_author: str = ""
    details: str = ""
    events: tuple[Event, ...] = ()
    place: str = ""

    def accept(self, bot: BotSpec, late: str, jump: str) -> None:
        """Accept the bot, which is on the list, with remarks on its time; that on the clock is for the organiser."""
        self.for_author = "; ".join(filter(None, (bot.label, late)))
        self.verdict, self.reason = SubmissionVerdict.ACCEPTED, "; ".join(filter(None, (self.for_author, jump)))

    def refuse(self, error: SpecError | str) -> None:
        """Refuse the bot. The reason for the author does not contain the name of another owner."""
        self.verdict, self.reason = SubmissionVerdict.REFUSED, str(error)
        self.for_author = error.for_author if isinstance(error, NameTaken) else str(error)


class BotsExamined(Counted, frozen=True):
    """The progress of `submit_bots`; `refused` of `done` bots were refused, and `running` are being examined."""

    refused: int
    running: tuple[str, ...] = ()


class Submissions(Event, frozen=True):
    """The end of `submit_bots`, also if an error ends it; accepted bots are on the list."""

    submissions: tuple[SubmittedBot, ...]


def submit_bot(request: SubmitBots, on: OnEvent = ignore) -> tuple[BotSpec, str]:
    """Submit the first bot, and report each step; return it, and its place if it is in a folder of bots already.

    SpecError or CheckFailed if it is refused.
    """
    submitting = _SubmissionRun(request)
    text = request.bots[0]
    bot = submitting.trials.bots.find(text, is_handed_in=True)
    submitting.trials.plans(bot, Secret.random())  # a mistake in the options is reported first
    owner = submitting.owner_of(text, bot)
    if place := submitting.place_of(bot, owner):
        return bot, place
    submitting.trials.prepare([bot])
    bot = examine_bot(submitting.trial(bot, choose_luck(request, on)), on)
    submitting.register(bot, owner)
    for remark in filter(None, (submitting.late, submitting.jump)):
        on(Warned(remark))
    return bot, ""


def submit_bots(request: SubmitBots, on: OnEvent = ignore) -> tuple[SubmittedBot, ...]:
    """Submit many bots, each independent of the others; return them with their verdicts, a refusal raises nothing.

    After a KeyboardInterrupt the rest are returned as not examined. The last event is Submissions.
    """
    submitting = _SubmissionRun(request)
    if request.authors is None:
        return submitting.submit([SubmittedBot(text) for text in _without_notes(request.bots, on)], on)
    with scratch_folder("arena-hand-ins-") as scratch:
        hand_ins = read_hand_ins(request.bots, submitting.authors, scratch.resolve())
        return submitting.submit([_submitted(hand_in) for hand_in in hand_ins], on)


class _SubmissionRun:
    """The bots of a request on their way in, with the names and owners that are known."""

    def __init__(self, request: SubmitBots) -> None:
        self.trials = Trials(request)
        self._bots, self._request, self._handed_in = self.trials.bots, request, read_clock()
        late, jump_s = self.trials.lateness(self._handed_in.at), self._bots.jump_s(self._handed_in)
        self.late = f"handed in {late}; it plays from the next run for which it is in time" if late else ""
        self.jump = f"the clock jumped by {jump_s:+.0f} s since the last hand-in" if abs(jump_s) > JUMP_S else ""
        self._replaces = request.replace or request.authors is not None
        self._listed_before = {bot.digest for bot in self._bots.submissions()}
        with naming_option("--baseline"):
            self._baseline = self._bots.find(request.baseline)
        with naming_option("--owner"):
            self._owner = request.owner and normalize_owner(request.owner)
        self._owned = self._bots.owned_names()
        with naming_option("--authors"):
            if request.authors is not None and request.owner is not None:
                raise SpecError("give either --authors or --owner: the file has the owners")
            self.authors = () if request.authors is None else read_authors(request.authors)
        self._owners = {author.name for author in self.authors}

    def submit(self, submissions: Sequence[SubmittedBot], on: OnEvent) -> tuple[SubmittedBot, ...]:
        """Read, examine and list the bots, and report and return their verdicts."""
        for submission in submissions:
            self.read(submission)
        for submission in submissions:
            self.claim(submission)
        _refuse_same_names(submissions)
        waiting = [entry for entry in submissions if entry.verdict is SubmissionVerdict.NOT_EXAMINED]
        self.trials.prepare(submission.bot for submission in waiting if submission.bot is not None)
        try:
            if waiting:
                self.examine(waiting, on)
        except KeyboardInterrupt:
            self.accept_listed(waiting)
        finally:
            self.complete_reasons(submissions)
            on(Submissions((*submissions,)))
        return (*submissions,)

    def complete_reasons(self, submissions: Iterable[SubmittedBot]) -> None:
        """Add to the reasons: the bots that still play of authors whose hand-in brought no new one, and equal files.

        Equal files are for the organiser only. Without a file of authors add nothing.
        """
        listed = self._bots.submissions() if self.authors else []
        latest = {entry.name: entry for entry in reversed(listed)}
        bots = [(entry.owner, Path(entry.bot.source)) for entry in submissions if entry.bot is not None]
        for entry in listed:
            with contextlib.suppress(SpecError):  # a damaged copy is found when it plays
                bots.append((entry.owner, Path(self._bots.read_installed(entry.digest).source)))
        equals = find_equal_files(bots, (bundled_folder("bots"), TEMPLATES)) if self.authors else {}
        for submission in submissions:
            labels = sorted(entry.label for entry in latest.values() if entry.owner == submission.owner != "")
            if labels and submission.verdict in _WITHOUT_BOT:
                still = f"; {join_words(labels)} still {'play' if len(labels) > 1 else 'plays'}"
                submission.reason, submission.for_author = submission.reason + still, submission.for_author + still
            submission.reason = "; ".join(filter(None, [submission.reason, *equals.get(submission.owner, ())]))

    def read(self, submission: SubmittedBot) -> None:
        """Read a bot into its submission, or refuse it, and find its owner.

        No bot of others may be called like the owner, even if this bot is unreadable.
        """
        if submission.verdict is not SubmissionVerdict.NOT_EXAMINED:
            return
        text = submission.place or submission.text
        given = submission.owner or (Path(text).name if is_path(text) else "")
        try:
            submission.bot = self._bots.find(text, given=given, is_handed_in=True)
            self.trials.games(submission.bot)
        except SpecError as error:
            submission.refuse(error)
        try:
            submission.owner = submission.owner or self.owner_of(text, submission.bot)
        except SpecError as error:
            submission.refuse(error)

    def claim(self, submission: SubmittedBot) -> None:
        """Refuse a bot that has no right to its name; mark one that is there already as unchanged."""
        if submission.verdict is SubmissionVerdict.REFUSED or submission.bot is None:
            return
        try:
            place = self.place_of(submission.bot, submission.owner)
        except SpecError as error:
            submission.refuse(error)
            return
        if place:
            submission.verdict = SubmissionVerdict.UNCHANGED
            submission.reason = submission.for_author = f"{submission.bot.label} is there already: {place}"

    def examine(self, submissions: Sequence[SubmittedBot], on: OnEvent) -> None:
        """Examine these bots, and put each on the list as soon as it is accepted."""
        workers = min(local_workers(self._request.workers, [Limits()] * 2, on), len(submissions))
        secret = choose_luck(self._request, on)
        progress = RunProgress(total=len(submissions))

        def report() -> None:
            refused = sum(submission.verdict is SubmissionVerdict.REFUSED for submission in submissions)
            left = [entry.text for entry in submissions if entry.verdict is SubmissionVerdict.NOT_EXAMINED]
            on(BotsExamined.of(progress.counts, refused, (*left[:workers],), task="bots"))

        trials = [self.trial(entry.bot, secret) for entry in submissions if entry.bot is not None]
        with contextlib.closing(examine_all(trials, workers, report)) as results:
            for number, result in results:
                self._apply_result(submissions[number], result)
                progress.add(1, 0)
            report()

    def _apply_result(self, submission: SubmittedBot, result: Examination) -> None:
        """Note the result of an examination; put an accepted bot on the list."""
        submission.details, submission.events = result.details, result.events
        if result.bot is None:
            submission.refuse(result.reason)
            submission.for_author = result.for_author or result.reason
            return
        try:
            self.register(result.bot, submission.owner)
        except NameTaken as error:  # another command was quicker
            submission.refuse(error)
            return
        submission.accept(result.bot, self.late, self.jump)

    def accept_listed(self, submissions: Iterable[SubmittedBot]) -> None:
        """Accept the bots that are on the list by now: a stop may come between the list and the verdict."""
        listed = {bot.digest for bot in self._bots.submissions()} - self._listed_before
        for submission in submissions:
            if submission.verdict is SubmissionVerdict.NOT_EXAMINED:
                assert submission.bot is not None, "it was read"
                if submission.bot.digest in listed:
                    submission.accept(submission.bot, self.late, self.jump)

    def owner_of(self, text: str, bot: BotSpec | None) -> str:
        """Return the owner of a bot submitted as `text`, and note them. SpecError if nothing names one."""
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
        """Check that the bot may have its name; return the place of an identical bot in a folder, or an empty text.

        NameTaken if another bot in a folder or another owner has it (an owner: unless `take_over`), SpecError if
        another version was submitted (unless `replace`).
        """
        advice = f"choose another name in {MANIFEST if Path(bot.source).is_dir() else 'its file name'}"
        if (entry := self._bots.namesake(bot)) is not None:
            namesake, place = entry
            if namesake.digest != bot.digest:
                for_author = f'the name "{bot.name}" is that of a bot of this arena; {advice}'
                raise NameTaken(f'the name "{bot.name}" belongs to {place}; {advice}', for_author)
            return str(place)
        if not self._request.take_over:
            require_free(bot.name, owner, self._owned, self._owners)
        latest = next((other for other in self._bots.submissions() if other.name == bot.name), None)
        if latest is not None and latest.digest != bot.digest and not self._replaces:
            raise SpecError(
                f'the name "{bot.name}" is taken: {latest.name} {latest.version} ({latest.digest[:8]}) was submitted at'
                f" {latest.submitted_at[:16].replace('T', ' ')} UTC. Give --replace if this is another version of that"
                f" bot; else {advice}"
            )
        return ""

    def trial(self, bot: BotSpec, secret: Secret) -> Trial:
        """Return the trial of a bot, with one block against the baseline."""
        job = self.trials.baseline_job(bot, self._baseline, secret)
        return Trial(bot, self._bots, self.trials.plans(bot, secret), job)

    def register(self, bot: BotSpec, owner: str) -> None:
        """Put a bot on the list. NameTaken if another command was quicker."""
        with contextlib.closing(database.open_for_writing(self._request.results)) as connection:
            takes_over = self._request.take_over
            self._bots.register(bot, owner, connection, takes_over=takes_over, handed_in=self._handed_in)


def _submitted(hand_in: HandIn) -> SubmittedBot:
    """Return the submission of a hand-in, with the verdict if there is no bot to examine."""
    verdict = SubmissionVerdict(hand_in.verdict or SubmissionVerdict.NOT_EXAMINED)
    submission = SubmittedBot(hand_in.text, owner=hand_in.author, verdict=verdict, place=str(hand_in.path))
    submission.reason = submission.for_author = hand_in.reason
    return submission


def _without_notes(texts: Iterable[str], on: OnEvent) -> list[str]:
    """Leave out, and report, a README or the like among bots, which `bots/*` matches, too."""
    bots = []
    for text in dict.fromkeys(texts):
        if is_path(text) and is_note(Path(text)):
            on(Warned(f"left out: {text} is no bot"))
        else:
            bots.append(text)
    return bots


def _refuse_same_names(submissions: Sequence[SubmittedBot]) -> None:
    """Refuse bots of one call with the same name, or with names of two owners that look alike."""
    named = [
        (entry, entry.bot.name)
        for entry in submissions
        if entry.bot is not None and entry.verdict != SubmissionVerdict.REFUSED
    ]
    rivals = [
        [
            other.text
            for other, other_name in named
            if other is not submission
            and (name == other_name or (submission.owner != other.owner and look_alike(name, other_name)))
        ]
        for submission, name in named
    ]
    for (submission, name), others in zip(named, rivals, strict=True):
        if others:
            like = f'the name "{name}", or one that looks like it, is also that of'
            submission.refuse(NameTaken(f"{like} {', '.join(others)}; {_ONE_EACH}", f"{like} another bot; {_ONE_EACH}"))

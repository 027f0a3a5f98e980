"""The check, step by step, that a bot speaks the protocol; the bot is not stored."""

from arena.match.secret_luck import Secret
from arena.operations.events import OnEvent, ignore
from arena.operations.trials import TrialRequest, Trials, choose_luck, require_conformance
from arena.process.scratch import scratch_folder
from arena.store.bots import BotStore


class CheckBot(TrialRequest, frozen=True, kw_only=True):
    """A check of `bot`, a name or a path."""

    bot: str


def check_bot(request: CheckBot, on: OnEvent = ignore) -> None:
    """Check a bot in each game of the request. StepFailed if it does not pass a step."""
    trials = Trials(request)
    bot = trials.bots.find(request.bot)
    trials.plans(bot, Secret.random())  # a mistake in the options is reported before anything is made
    trials.prepare([bot])
    with scratch_folder("arena-check-") as scratch:
        candidate = BotStore(scratch, scratch, request.isolation).install(bot)
        secret = choose_luck(request, on)
        for plan in trials.plans(bot, secret):
            require_conformance(candidate, plan, request.isolation, on)

"""The command line. A command is a few lines over a function; it is imported only when it is called.

Rule: tables for people and data for programs on stdout, everything else on stderr. Exit 0 done, 1 a check failed,
2 usage or specification, 3 interrupted, 4 our fault, 5 the machine lacks something.
"""

import gc
import io
import sys
from importlib import import_module
from typing import Any, Final

import click

from arena import __version__
from arena.cli.edge import (
    close_streams,
    explain,
    ignore_signals,
    keep_owner_rights,
    print_error,
    secure_streams,
    stoppable,
)
from arena.errors import Interrupted

COMMAND_GROUPS: Final = {
    "Play": {
        "match": ("arena.cli.match", "Play a few matches between bots."),
        "play": ("arena.cli.match", "Play against bots in the terminal."),
        "compare": ("arena.cli.compare", "Play two bots until it is decided which is better."),
        "games": ("arena.cli.games", "List the games on offer."),
        "bots": ("arena.cli.bots", "List the bots on offer."),
    },
    "Write a bot": {
        "new-bot": ("arena.cli.games", "Start a bot of your own, in one of nine languages."),
        "check": ("arena.cli.bots", "Check step by step that a bot speaks the protocol."),
        "submit": ("arena.cli.submit", "Check bots, let each play a baseline, and put them on the list."),
        "withdraw": ("arena.cli.bots", "Take a submitted bot off the list."),
    },
    "Run a league": {
        "league": ("arena.cli.league", "Run a tournament file, see how far it is."),
        "tournaments": ("arena.cli.league", "List the tournaments that have a name here."),
        "worker": ("arena.cli.worker", "Play matches for leagues that run on other machines."),
    },
    "Read results": {
        "leaderboard": ("arena.cli.stats", "Print the standings of a league."),
        "stats": ("arena.cli.stats", "Print all results of one bot."),
        "matrix": ("arena.cli.stats", "Print who scored what against whom."),
        "grades": ("arena.cli.grades", "Print authors, ranks and faults for a mark book."),
        "report": ("arena.cli.grades", "Write a page for each author of a league."),
        "site": ("arena.cli.site", "Make web pages of leagues."),
    },
    "Look into a match": {
        "show": ("arena.cli.show", "Replay a stored match step by step."),
        "coach": ("arena.cli.coach", "Show what every decision of a match cost."),
        "ask": ("arena.cli.ask", "Ask a bot for its answers in a stored match."),
        "positions": ("arena.cli.positions", "Keep positions as tests, with the answers expected."),
    },
    "Check and administer": {
        "verify": ("arena.cli.verify", "Recompute stored matches and standings."),
        "results": ("arena.cli.results", "Copy the results, for others or as a backup."),
        "author": ("arena.cli.author", "Correct the time of a hand-in, or remove an author."),
        "doctor": ("arena.cli.doctor", "Examine what this machine can do."),
        "new-game": ("arena.cli.games", "Start a game of your own from a small one."),
        "check-game": ("arena.cli.games", "Check that a game keeps the contract."),
        "completion": ("arena.cli.completion", "Print the script with which a shell completes names."),
    },
}
"""The module and the summary of each command, by what one wants to do."""
COMMAND_MODULES: Final = {name: module for group in COMMAND_GROUPS.values() for name, (module, _) in group.items()}

_SUGGESTIONS: Final = {
    "run": "arena league run NAME",
    "start": "arena league run NAME",
    "dialogue": "arena show MATCH --lines PLAYER",
    "standings": "arena leaderboard",
    "table": "arena leaderboard",
    "list": "arena tournaments, arena games or arena bots",
    "init": "arena new-bot NAME or arena new-game NAME",
    "new": "arena new-bot NAME or arena new-game NAME",
    "help": "arena --help, or arena COMMAND --help",
    "version": "arena --version",
}
"""Names that people try, and the command to suggest."""

_WIDTH: Final = max(map(len, COMMAND_MODULES))
_NEW_OBJECTS: Final = 50_000
"""New objects between two garbage collections; with Python's 700 they take a fifth of the time of a large table."""


class SuggestingGroup(click.Group):
    """A group of commands that suggests one if it gets an unknown name."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command that `args` begin with, as click.Group does; fail with a suggestion for an unknown one."""
        names = self.list_commands(ctx)
        if args and args[0] not in names and not args[0].startswith("-"):
            from arena.text import unknown  # noqa: PLC0415 - only for this message

            meant = _SUGGESTIONS.get(args[0], "").replace("NAME", args[1] if args[1:] else "NAME")
            ctx.fail(f'no command "{args[0]}"; try: {meant}' if meant else unknown("command", args[0], names))
        return super().resolve_command(ctx, args)


class _Commands(SuggestingGroup):
    """The top group: the commands of `COMMAND_MODULES`, each imported when it is needed."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMAND_MODULES)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMAND_MODULES:
            return None
        module = import_module(COMMAND_MODULES[cmd_name])
        return next(item for item in vars(module).values() if isinstance(item, click.Command) and item.name == cmd_name)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        for title, commands in COMMAND_GROUPS.items():
            with formatter.section(title):
                formatter.write_dl([(f"{name:<{_WIDTH}}", summary) for name, (_, summary) in commands.items()])


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"], "show_default": True})
@click.version_option(__version__, prog_name="arena")
def cli() -> None:
    """Tournaments and bot competitions.

    \b
    A first league:       arena league run first
    A bot of your own:    arena new-bot mybot --lang python
                          arena check ./mybot
                          arena league run mybot
    A lost match:         arena stats mybot
                          arena coach MATCH mybot
                          arena ask ./mybot MATCH
    """  # noqa: D301 - \b is click's mark for text that keeps its lines


def main() -> None:
    """Run the program and exit with its code; the entry point of the console script."""
    gc.set_threshold(_NEW_OBJECTS)
    secure_streams()
    keep_owner_rights()
    try:
        with stoppable():
            exit_code = close_streams(execute(sys.argv[1:]))
    except KeyboardInterrupt:  # after the command, while its output is written
        exit_code = Interrupted.exit_code
    if exit_code == Interrupted.exit_code:
        ignore_signals()
    sys.exit(exit_code)


def execute(arguments: list[str]) -> int:
    """Run one command line; print its error, if any, on stderr, and return its exit code."""
    try:
        outcome: Any = cli.main(arguments, prog_name="arena", standalone_mode=False)
    except click.ClickException as error:
        message = io.StringIO()
        error.show(message)
        print_error(message.getvalue().rstrip("\n"))
        return error.exit_code
    except SystemExit:
        # click's way to say that the reader of our output has gone (`| head`): nothing is wrong with that.
        return 0
    except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001 - the edge: whatever happens gets its exit code
        from arena.text import printable  # noqa: PLC0415 - only for this message

        text, exit_code = explain(error)
        print_error(printable(text, keep="\n\t"))
        return exit_code
    return outcome if isinstance(outcome, int) else 0

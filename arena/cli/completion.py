"""`arena completion`: the script with which a shell completes commands, options, and names of bots and leagues.

Rule: a completion looks for names and changes nothing; a folder that it cannot read has none.
"""

import os
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Final

import click
from click.shell_completion import CompletionItem, get_completion_class

from arena.bundled import is_path, list_tournaments
from arena.errors import ArenaError
from arena.store.bots import BotStore
from arena.store.folder import open_store

_VARIABLE: Final = "_ARENA_COMPLETE"
Complete = Callable[[click.Context, click.Parameter, str], list[CompletionItem]]


def _completer(names: Callable[[Path], Iterable[str]], *, or_path: bool = False) -> Complete:
    """Return a completion by the names that `names` finds in a results folder; with `or_path` also by paths."""

    def complete(context: click.Context, _parameter: click.Parameter, begun: str) -> list[CompletionItem]:
        """Return the names, or files, that begin as `begun` does; none from a folder that cannot be read."""
        if or_path and is_path(begun):
            return [CompletionItem(begun, type="file")]
        results = Path(context.params.get("results") or os.environ.get("ARENA_RESULTS", "results"))
        with suppress(ArenaError, OSError):
            return [CompletionItem(name) for name in names(results) if name.startswith(begun)]
        return []

    return complete


def _bots(results: Path) -> Iterable[str]:
    """Return the names of all bots."""
    return BotStore(results, Path(os.environ.get("ARENA_BOTS", "bots"))).names()


def _leagues(results: Path) -> list[str]:
    """Return the names of the leagues in the results."""
    with open_store(results) as store:
        return store.leagues()


complete_bot: Final = _completer(_bots, or_path=True)
complete_league: Final = _completer(_leagues)
complete_tournament: Final = _completer(
    lambda _results: sorted({path.stem for path, _place in list_tournaments()}), or_path=True
)


def complete_columns(context: click.Context, _parameter: click.Parameter, begun: str) -> list[CompletionItem]:
    """Complete the last name of a list with commas by the columns of the command's table.

    Names that the list has already are left out; `all` is offered for the first.
    """
    from arena.report.columns import GRADES, LEADERBOARD, section_columns  # noqa: PLC0415 - only for this completion
    from arena.report.matches import MATCH_COLUMNS  # noqa: PLC0415 - see above

    tables = {
        "grades": [column.name for column in GRADES],
        "stats": [column.name for column in section_columns("name")],
        "matches": [column.name for column in MATCH_COLUMNS],
    }
    names = tables.get(context.info_name or "", [column.name for column in LEADERBOARD])
    before, comma, last = begun.rpartition(",")
    chosen = before.split(",")
    return [
        CompletionItem(f"{before}{comma}{name}")
        for name in (names if comma else ["all", *names])
        if name not in chosen and name.lower().startswith(last.lower())
    ]


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    """Print the script with which a shell completes commands, options and names.

    The names are those of bots, tournaments, leagues and columns.

    Put its line into the start-up file of the shell: `eval "$(arena completion bash)"` into ~/.bashrc, the same with
    zsh into ~/.zshrc; for fish, `arena completion fish > ~/.config/fish/completions/arena.fish`.

    Example: arena completion bash
    """
    complete = get_completion_class(shell)
    assert complete is not None, "click knows these three"
    root = click.get_current_context().find_root()
    click.echo(complete(root.command, {}, "arena", _VARIABLE).source())

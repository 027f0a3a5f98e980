"""The use cases that have no function of their own: each operation by keyword, in a child process."""

from collections.abc import Callable
from importlib import import_module
from inspect import Parameter, getdoc, signature
from typing import Any, Final

from arena.library.child import OnFrame, request_of, run_in_child

USE_CASES: Final = {
    "ask_bot": "ask_bot",
    "build_site": "sites",
    "check_bot": "check_bot",
    "coach_league": "coach_league",
    "coach_match": "coach_match",
    "check_one_game": "check_game",
    "list_bots": "list_bots",
    "new_bot": "new_bot",
    "new_game": "new_game",
    "play_matches": "play_matches",
    "read_grades": "grades",
    "report_authors": "grades",
    "submit_bots": "submit_bots",
    "verify_leagues": "verify_leagues",
    "withdraw_bot": "list_bots",
}
"""The module of each operation."""


def use_case(name: str) -> Callable[..., Any]:
    """Return the operation of that name as a function of its request's fields by keyword.

    Its value is plain: dicts, lists, numbers and texts. `on` gets its events, each by its fields, with `type` for its
    name. It raises the errors of `arena.errors`.
    """
    operation = getattr(import_module(f"arena.operations.{USE_CASES[name]}"), name)
    request = next(iter(operation.__annotations__.values()))

    def call(*, on: OnFrame = lambda _: None, **choices: Any) -> Any:
        return run_in_child(operation, request_of(operation, choices), on=on)

    call.__name__, call.__doc__ = name, f"{operation.__doc__}\n\n{getdoc(request)}"
    keywords = [parameter.replace(kind=Parameter.KEYWORD_ONLY) for parameter in signature(request).parameters.values()]
    call.__signature__ = signature(call).replace(parameters=[*keywords, signature(call).parameters["on"]])  # type: ignore[attr-defined]
    return call

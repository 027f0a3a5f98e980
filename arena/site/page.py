"""A match as a page in one file, with the player and all its data, to be opened or sent.

Rule: the policy of the page names each script and style by its hash, so that nothing else runs in it, and nothing is
asked of a network or of other files.
"""

from base64 import b64encode
from collections.abc import Collection, Sequence
from hashlib import sha256
from html import escape
from importlib.resources import files
from typing import Any, Final

from arena.match.judgement import judge_by_game
from arena.match.record import MatchRecord
from arena.site.replay import match_data, script

_POLICY: Final = "default-src 'none'; script-src {}; style-src {}; img-src data:"
_PAGE: Final = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
<main>
<h1>{title}</h1>
<div id="player" data-match="{match}"></div>
<noscript><pre>{steps}</pre></noscript>
</main>
{scripts}
</body>
</html>
"""


def match_page(
    record: MatchRecord,
    others: Sequence[MatchRecord] = (),
    *,
    origin: str = "",
    private: Collection[str] = (),
    league: Sequence[str] = (),
) -> str:
    """Return a match as HTML. `others`: matches of its block to compare; `origin`: the source of its luck.

    `league`: the players of its league, which give the colours. Notes and stderr are shown for the players named in
    `private`. CheckFailed if a record contradicts the rules.
    """
    data = match_data(record, private=private, judgements=judge_by_game(record), league=league)
    beside = [match_data(other, private=private, league=league, has_motions=False) for other in others]
    ids = [match_values["id"] for match_values in (data, *beside)]
    for match_values in (data, *beside):
        match_values["others"] = [other for other in ids if other != match_values["id"]]
    data["origin"] = origin
    assets = ["site.css", "player.js", *([f"{data['module']}.js"] if data["module"] else [])]
    style, *scripts = [(files("arena.site") / "assets" / name).read_text(encoding="utf-8") for name in assets]
    scripts += [script(f"match-{match_values['id']}", match_values) for match_values in (data, *beside)]
    return _PAGE.format(
        policy=_POLICY.format(" ".join(map(_hash, scripts)), _hash(style)),
        style=style,
        title=escape(data["title"]),
        match=escape(data["id"]),
        steps=escape("\n".join(f"{number} {_step_text(data, step)}" for number, step in enumerate(data["steps"]))),
        scripts="\n".join(f"<script>{text}</script>" for text in scripts),
    )


def frame_page(page: str, height_px: int) -> str:
    """Return a page as an HTML element that a notebook shows."""
    style = f"width: 100%; height: {height_px}px; border: 0"
    return f'<iframe sandbox="allow-scripts" style="{style}" title="A match" srcdoc="{escape(page)}"></iframe>'


def _hash(text: str) -> str:
    """Return the hash of a script or style for the content security policy."""
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


def _step_text(data: dict[str, Any], step: dict[str, Any]) -> str:
    """Return a step as text, with the name of the player who acts."""
    return f"{data['players'][step['seat']]['name']} {step['text']}" if "seat" in step else str(step["text"])

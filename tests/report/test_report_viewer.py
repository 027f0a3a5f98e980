"""A match as pictures: files that sort, and a page that needs nothing else and trusts nobody."""

import gzip
import json
import shutil
import subprocess
from base64 import b64decode
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import pytest
from msgspec.structs import replace
from report_made import record
from support.scripted_bot import stored_toy_match

from arena.errors import CheckFailed, SpecError
from arena.match.record import ActionStep, MatchRecord
from arena.report.viewer import VIEWER_PAGE, page, viewer_steps, write_viewer

pytestmark = pytest.mark.usefixtures("toy_game")
HOSTILE = "</script><script>alert('x')</script><img src=http://evil/x>"


class Found(HTMLParser):
    """Elements with their attributes, and what stands in the scripts."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag == "script":
            self.scripts.append("")

    def handle_data(self, data: str) -> None:
        if self.elements and self.elements[-1][0] == "script":
            self.scripts[-1] += data


def hostile() -> MatchRecord:
    """A match whose bots try to be markup."""
    played = record()
    steps = tuple(replace(step, note=HOSTILE) if isinstance(step, ActionStep) else step for step in played.steps)
    return replace(played, steps=steps, seats=tuple(replace(seat, player=HOSTILE) for seat in played.seats))


def test_there_is_a_slide_for_the_start_and_for_every_step() -> None:
    """With what happened, in the words of the transcript."""
    played = stored_toy_match(rounds=2)

    found = list(viewer_steps(played))

    assert [slide.step for slide in found] == list(range(len(played.steps) + 1))
    assert found[0].line == "the start"
    assert found[4].line == "seat 0 ann Trim(sail=0)"
    assert found[5].line.startswith("chance wave/1: ")
    assert found[6].line == "simulation tip/1: the float tips by 60"


def test_a_picture_is_written_only_if_it_shows_something_new(tmp_path: Path) -> None:
    """Files sort in the order of the steps, and carry the number of the step that led to them."""
    pictures = write_viewer(stored_toy_match(rounds=2), tmp_path / "new" / "ship")

    names = sorted(path.name for path in (tmp_path / "new" / "ship").iterdir())

    assert names == [VIEWER_PAGE, "step-000.svg", "step-003.svg", "step-006.svg", "step-009.svg", "step-012.svg"]
    assert pictures == 5


def test_pictures_of_two_matches_are_not_mixed(tmp_path: Path) -> None:
    """A folder with anything in it is refused, and left as it is."""
    (tmp_path / "step-001.svg").write_text("old")

    with pytest.raises(SpecError, match="expected a new or empty folder"):
        write_viewer(record(), tmp_path)

    assert [path.name for path in tmp_path.iterdir()] == ["step-001.svg"]


def test_a_record_that_cannot_be_replayed_leaves_no_file(tmp_path: Path) -> None:
    """It is refused before anything is written."""
    played = record()

    with pytest.raises(CheckFailed):
        write_viewer(replace(played, steps=played.steps[1:]), tmp_path / "new")

    assert not (tmp_path / "new").exists()


def test_the_page_has_every_step_and_picture_in_itself() -> None:
    """Each step names its picture; steps that look the same share one."""
    played = stored_toy_match(rounds=2)

    found = Found(page(played, list(viewer_steps(played))))

    told = json.loads(found.scripts[0])
    assert len(told["steps"]) == len(played.steps) + 1
    assert [step["picture"] for step in told["steps"]] == [0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3, 4]
    assert len(told["pictures"]) == 5
    assert all(gzip.decompress(b64decode(packed)).startswith(b"<svg ") for packed in told["pictures"])


@pytest.mark.parametrize("played", [record(), record(cheats=True), hostile()])
def test_the_page_asks_for_nothing_from_outside(played: MatchRecord) -> None:
    """No element names a source or a link, and the policy forbids what a picture might ask for."""
    found = Found(page(played, list(viewer_steps(played))))

    assert not [name for _, attributes in found.elements for name in attributes if name in {"src", "href", "action"}]
    assert [tag for tag, _ in found.elements if tag == "script"] == ["script", "script"]
    assert any("default-src 'none'" in (attributes.get("content") or "") for _, attributes in found.elements)


def test_what_a_bot_says_is_text() -> None:
    """Names and notes come back out of the page as they went in."""
    played = hostile()

    text = page(played, list(viewer_steps(played)))

    told = json.loads(Found(text).scripts[0])
    assert HOSTILE in told["players"][0]
    assert "alert" in told["steps"][1]["line"]
    assert "<img src" not in text


@pytest.mark.skipif(shutil.which("node") is None, reason="no node to read the script with")
@pytest.mark.process
def test_the_keys_go_through_the_steps() -> None:
    """The script of the page, run with a stand-in for the browser: arrows, Home, End and the hash of the address."""
    played = stored_toy_match(rounds=2)
    found = Found(page(played, list(viewer_steps(played))))

    done = subprocess.run(
        ["node", "-e", BROWSER.replace("{{script}}", found.scripts[1])],
        input=found.scripts[0],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert done.stderr == ""
    seen, picture = json.loads(done.stdout)
    assert seen == [2, 3, 2, 0, 12, 12, 2]
    assert unquote(picture).startswith("data:image/svg+xml;charset=utf-8,<svg ")
    assert "(0, 0, 0)" in unquote(picture)


BROWSER = """
const fs = require("fs");
const made = {};
function element() {
  return {
    textContent: "", children: [], heard: {},
    append(child) { this.children.push(child); }, setAttribute() {}, removeAttribute() {},
    offsetTop: 0, clientHeight: 0,
    querySelectorAll() { return []; }, addEventListener(name, call) { this.heard[name] = call; },
  };
}
const document = {
  heard: {},
  getElementById(id) { return made[id] ??= element(); },
  createElement: element,
  addEventListener(name, call) { this.heard[name] = call; },
};
const location = { hash: "#2", replace(to) { this.hash = to; } };
made.match = element();
made.match.textContent = fs.readFileSync(0, "utf8");
{{script}}
const seen = [now];
for (const key of ["ArrowRight", "ArrowLeft", "Home", "End", "ArrowRight", "PageUp"]) {
  document.heard.keydown({ key, preventDefault() {} });
  seen.push(now);
}
const wait = () => {
  const { src } = document.getElementById("picture");
  return src ? console.log(JSON.stringify([seen, src])) : setTimeout(wait, 5);
};
wait();
"""

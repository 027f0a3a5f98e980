"""Code of other packages: found by entry point or by `module:Class`, and known by the hash of its files.

Rule: nothing is imported before it is asked for, and only from an installed package or from a folder that somebody
trusts by name. Every failure on the way is a SpecError that names the package and the entry point.
"""

import json
import os
import re
import shlex
import signal
import subprocess
import sys
import traceback
from collections.abc import Iterator, Sequence
from functools import cache
from hashlib import sha256
from importlib import import_module
from importlib.machinery import EXTENSION_SUFFIXES
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from urllib.parse import unquote, urlparse

import msgspec

from arena.errors import HarnessFault, MachineFault, SpecError
from arena.text import cut, printable

if TYPE_CHECKING:
    from importlib.metadata import Distribution, EntryPoint

GROUP: Final = "arena.games"
"""The entry points of games."""
FAMILIES: Final = "arena.game_families"
"""The entry points of adapters, each of which plays the games `PREFIX:NAME` under its own name."""
OWN_DISTRIBUTION: Final = "bot-arena"
TRUST: Final = "ARENA_TRUST_CODE"
"""The variable with the folder whose modules a tournament may name; worker processes inherit it."""
_ARENA: Final = Path(__file__).parent
_REFERENCE: Final = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*", re.ASCII)


def install_command(extra: str) -> str:
    """Return the command that adds the packages of an extra to this environment of pipx, uv or pip."""
    from importlib.metadata import requires  # noqa: PLC0415 - slow to import

    ends = (f"extra == '{extra}'", f'extra == "{extra}"')
    packages = shlex.join(line.partition(";")[0].strip() for line in requires("bot-arena") or () if line.endswith(ends))
    if (Path(sys.prefix) / "pipx_metadata.json").exists():
        return f"`pipx inject bot-arena {packages}`"
    python = shlex.quote(sys.executable)
    pip = f"{python} -m pip install" if find_spec("pip") else f"uv pip install --python {python}"
    return f"`{pip} {packages}`"


class Package(msgspec.Struct, frozen=True):
    """The package that a plug-in comes from: name and version of its distribution, and the SHA-256 of its files.

    Distribution and version are empty for a module of a trusted folder.
    """

    distribution: str
    version: str
    files: str

    def __str__(self) -> str:
        name = f"{self.distribution} {self.version}" if self.distribution else "a trusted folder"
        return f"{name}, files {self.files[:12]}"


class Plugin(NamedTuple):
    """An object of another package. `place` names it in messages: the entry point, and the distribution."""

    place: str
    value: Any
    package: Package


def is_reference(name: str) -> bool:
    """Return True if the name has the form `module:Class`."""
    return _REFERENCE.fullmatch(name) is not None


def entry_points(group: str = GROUP) -> "dict[str, list[EntryPoint]]":
    """Return all entry points of the group by name, sorted; nothing is imported. Two packages may claim one name."""
    from importlib import metadata  # noqa: PLC0415 - no command shall wait for it that needs no plug-in

    by_name: dict[str, list[EntryPoint]] = {}
    for entry in sorted(set(metadata.entry_points(group=group)), key=lambda entry: (entry.name, place_of(entry))):
        by_name.setdefault(entry.name, []).append(entry)
    return by_name


@cache
def own_entry_points() -> "dict[str, EntryPoint]":
    """Return the games of this distribution by name; nothing is imported, and no other distribution is read.

    MachineFault if there is none: arena is not installed as it should be.
    """
    from importlib import metadata  # noqa: PLC0415 - see above

    try:
        entries = metadata.distribution(OWN_DISTRIBUTION).entry_points.select(group=GROUP)
    except metadata.PackageNotFoundError:
        entries = metadata.EntryPoints()
    if not entries:
        raise MachineFault(
            "arena's games are not registered here: install it again with `python3 start.py`, or `pip install -e .`"
        )
    return {entry.name: entry for entry in sorted(entries, key=lambda entry: entry.name)}


def is_own(entry: "EntryPoint") -> bool:
    """Return True if the entry point is of this distribution."""
    return entry.dist is not None and entry.dist.name == OWN_DISTRIBUTION


def only_entry_point(name: str, entries: "Sequence[EntryPoint]") -> "EntryPoint":
    """Return the one entry of `entries`, all of that name. SpecError if there are several; it names their packages."""
    if len(entries) > 1:
        raise SpecError(f"two packages have a game {name}: {'; '.join(map(place_of, entries))}: remove one")
    return entries[0]


def place_of(entry: "EntryPoint") -> str:
    """Return `entry point NAME = module:Class of my-games 0.1`, for messages."""
    dist = "" if entry.dist is None else f" of {entry.dist.name} {entry.dist.version}"
    return printable(f"entry point {entry.name} = {entry.value}{dist}")


def load_entry_point(entry: "EntryPoint") -> Plugin:
    """Load the object that an entry point names. SpecError if it is no `module:Class`, or cannot be imported."""
    place = place_of(entry)
    if not is_reference(entry.value):
        raise SpecError(f"{place}: expected module:Class, found {cut(printable(entry.value))}")
    dist = ("", "") if entry.dist is None else (entry.dist.name, entry.dist.version)
    return _load_object(entry.value, place, dist)


def load_reference(name: str) -> Plugin:
    """Load the object that `module:Class` names. SpecError if no installed package and no trusted folder has it.

    A trusted folder, named by the variable ARENA_TRUST_CODE, is put at the end of `sys.path` for good.
    """
    top, folder = name.partition(":")[0].partition(".")[0], os.environ.get(TRUST)
    if folder and folder not in sys.path:
        sys.path.append(folder)  # at the end: a module there hides no installed one
    spec = None if top in {*sys.stdlib_module_names, "arena"} else find_spec(top)
    places = [] if spec is None else [*(spec.submodule_search_locations or ()), spec.origin or ""]
    if not places:
        raise SpecError(f"{name}: {_describe_missing_module(top)}")
    where = Path(places[0]).resolve()
    if dist := _distribution_of(top, where):
        return _load_object(name, f"{name} of {dist.name} {dist.version}", (dist.name, dist.version))
    if folder and where.is_relative_to(Path(folder).resolve()):
        return _load_object(name, f"{name} in {folder}", ("", ""))
    raise SpecError(f"{name}: {where} belongs to no installed package; {_HOW_TO_TRUST}")


_HOW_TO_TRUST: Final = (
    f"install it (`pip install -e FOLDER`), or, for code you trust, run its tournament with --trust-code"
    f" (other commands: {TRUST}=FOLDER)"
)


def _describe_missing_module(top: str) -> str:
    """Return why a module with a game was not found, and how to install or trust one."""
    if top in sys.stdlib_module_names or top == "arena":
        return f"{top} is a part of {'arena' if top == 'arena' else 'Python'}, not a package with a game"
    return f"there is no module {top} here; {_HOW_TO_TRUST}"


def _distribution_of(top: str, where: Path) -> "Distribution | None":
    """Return the installed distribution with the module or package `top` at `where`; None if there is none."""
    from importlib import metadata  # noqa: PLC0415 - see above

    for dist in map(metadata.distribution, metadata.packages_distributions().get(top, ())):
        if where in {Path(str(dist.locate_file(name))).resolve() for name in (top, f"{top}.py")}:
            return dist
    return next((dist for dist in metadata.distributions() if _is_editable_at(dist, where)), None)


def _is_editable_at(dist: "Distribution", where: Path) -> bool:
    """Return True if the distribution is installed in editable mode from a folder that contains `where`."""
    text = dist.read_text("direct_url.json")
    origin = msgspec.json.decode(text) if text else {}
    if not origin.get("dir_info", {}).get("editable"):
        return False
    return where.is_relative_to(Path(unquote(urlparse(origin["url"]).path)).resolve())


_PLACES: Final[dict[Path, str]] = {}
"""The places of the plug-ins loaded here, by the file or folder of their code."""


def place_of_failure(error: BaseException) -> str:
    """Return the place (see `Plugin`) of the plug-in whose code the error passed; empty if it passed none."""
    files = [Path(frame.filename).resolve() for frame in traceback.extract_tb(error.__traceback__)]
    return next((place for root, place in _PLACES.items() if any(file.is_relative_to(root) for file in files)), "")


def _load_object(reference: str, place: str, dist: tuple[str, str]) -> Plugin:
    """Import the module of `module:Class`, and take the object from it; SpecError names `place` if that fails.

    The place is kept for `place_of_failure`.
    """
    module, _, name = reference.partition(":")
    try:
        loaded = import_module(module)
        root = _outermost_package(module)
        files = _hash_files(root)
    except (Exception, SystemExit) as error:
        raise SpecError(f"{place} cannot be loaded: {describe_error(error)}") from error
    if not hasattr(loaded, name):
        raise SpecError(f"{place} cannot be loaded: {loaded.__file__} has no {name}")
    file = Path(str(root.__file__)).resolve()
    _PLACES[file.parent if hasattr(root, "__path__") else file] = place
    return Plugin(place, getattr(loaded, name), Package(*dist, files))


def describe_error(error: BaseException) -> str:
    """Return the error and the last line of code that it passed, in one line.

    A line of a plug-in is preferred to one of arena.
    """
    if isinstance(error, SyntaxError) and error.filename:
        return printable(f"SyntaxError: {error.msg} ({error.filename}, line {error.lineno})")
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if not frame.filename.startswith("<frozen")]
    outside = [frame for frame in frames if not Path(frame.filename).is_relative_to(_ARENA)]
    last = (outside or frames)[-1:]
    place = "".join(f" ({frame.filename}, line {frame.lineno})" for frame in last)
    return printable(" ".join(f"{type(error).__name__}: {error}".split())) + place


def _outermost_package(module: str) -> ModuleType:
    """Return the outermost package, with a file, of an imported module; namespaces above it are skipped."""
    words = module.split(".")
    names = [".".join(words[:length]) for length in range(1, len(words) + 1)]
    return next(sys.modules[name] for name in names if getattr(sys.modules[name], "__file__", None))


def _hash_files(root: ModuleType) -> str:
    """Return the SHA-256 over the names and contents of all files of a package, or of a module that is one file."""
    file = Path(str(root.__file__))
    files = _source_files(file.parent) if hasattr(root, "__path__") else [file]
    lines = [f"{path.relative_to(file.parent).as_posix()}\0{sha256(path.read_bytes()).hexdigest()}" for path in files]
    return sha256("\n".join(sorted(lines)).encode("utf-8", "surrogateescape")).hexdigest()


def _source_files(folder: Path) -> Iterator[Path]:
    """Yield the files below a folder, unsorted, without `__pycache__` and extensions beside a `.py` of their name."""
    for path in folder.rglob("*"):
        stem = next((path.name.removesuffix(end) for end in EXTENSION_SUFFIXES if path.name.endswith(end)), "")
        is_made = "__pycache__" in path.parts or (stem and (path.parent / f"{stem}.py").exists())
        if path.is_file() and not is_made:
            yield path


def hash_of(module: str) -> str:
    """Return the hash of the files of an imported package or module, without the packages around it."""
    return _hash_files(sys.modules[module])


def run_in_child(module: str, words: Sequence[str]) -> list[dict[str, Any]]:
    """Run `python -m MODULE WORD...`, which may be killed by its code; return its JSON object for each word.

    A word at which the process dies gets `problem`, and a new process goes on with the next word. If it ran out of
    time, all missing words get the same `problem`. HarnessFault if it was killed from outside.
    """
    answers: list[dict[str, Any]] = []
    while len(answers) < len(words):
        command = [sys.executable, "-P", "-m", module, *words[len(answers) :]]
        process = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False)
        answers += [json.loads(line) for line in process.stdout.splitlines() if line.startswith(b"{")]
        missing = len(words) - len(answers)
        if missing:
            answers += [{"problem": _describe_end(process)}] * (missing if -process.returncode in _TOO_LONG else 1)
    return answers


_TOO_LONG: Final = (signal.SIGXCPU, signal.SIGALRM)


def _describe_end(process: "subprocess.CompletedProcess[bytes]") -> str:
    """Return how a process ended, as a phrase. HarnessFault if it was killed from outside."""
    if -process.returncode == signal.SIGKILL:
        raise HarnessFault("a process that tried a game was killed: by hand, or because memory ran out")
    if -process.returncode in _TOO_LONG:
        return "it used up its limit of time without an end"
    if process.returncode < 0:
        return f"its code dies of {signal.Signals(-process.returncode).name}"
    last = process.stderr.decode(errors="replace").strip().splitlines()[-1:] or ["without a word"]
    return f"its process ended with exit code {process.returncode}: {printable(last[0])}"

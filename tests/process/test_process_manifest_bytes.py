"""A bot.yaml of any content is a manifest or a SpecError, soon and with little memory."""

import resource
import subprocess
import sys
import time
from pathlib import Path
from random import Random
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.errors import SpecError
from arena.process.manifest import MANIFEST_LIMIT, Manifest
from arena.yaml_file import parse_yaml

VALID = """\
name: mybot
version: "2.1"
command: [python3, -X, utf8, bot.py]
build:
  - [gcc, -O2, -o, bot, bot.c]
  - [sh, -c, "make\\nmake install"]
games: [shanghaien, nim]
processes: false
limits: {memory_mib: 256, scratch_mib: 16, startup_ms: 1500.5}
description: >
  plays well
authors: [Zoë, "Ann \\"the bot\\" Lee"]
"""
MOST_CPU_S = 5.0
"""For 64 KiB of YAML, on a slow machine."""
MOST_MEMORY = 256 << 20


def parsed(content: bytes) -> Manifest | str:
    """What the bytes are read as. Everything a person would be told of it prints, in lines that are not endless."""
    begun_s = time.process_time()
    found = read(content)
    assert time.process_time() - begun_s < MOST_CPU_S
    if isinstance(found, str):
        assert found.startswith("bot.yaml: ")
        assert found.replace("\n", "").isprintable()
        assert len(found) < 10_000
    return found


def read(content: bytes) -> Manifest | str:
    """The manifest, or the sentence against it."""
    try:
        return parse_yaml(content, Manifest, place="bot.yaml", limit=MANIFEST_LIMIT)
    except SpecError as error:
        return str(error)


def test_the_valid_one_is_valid() -> None:
    """Or the mutations of it would prove little."""
    found = parsed(VALID.encode())

    assert isinstance(found, Manifest)
    assert (found.build[1][2], found.description) == ("make\nmake install", "plays well\n")


def bomb(depth: int, *, fan: int = 10, end: str = "") -> str:
    """A list of lists of lists by aliases, `fan` to the power of `depth` long."""
    lines = [f"a0: &a0 [{', '.join(['x'] * fan)}]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * fan)}]" for n in range(1, depth)]
    return "\n".join([*lines, end, ""])


HOSTILE: dict[str, bytes] = {
    "integer of 20000 sexagesimal places": b"name: x\nprocesses: " + b":".join([b"59"] * 20_000),
    "float of 20000 sexagesimal places": b"name: x\nlimits: {startup_ms: " + b":".join([b"59"] * 20_000) + b".5}",
    "integer of 60000 digits": b"name: x\nversion: " + b"9" * 60_000,
    "float beyond all": b"name: x\ncommand: [x]\nlimits: {startup_ms: 1.0e+999}",
    "not a number": b"name: x\ncommand: [x]\nlimits: {startup_ms: .nan}",
    "explicit integer": b"name: x\nversion: !!int '0x" + b"f" * 60_000 + b"'",
    "half a surrogate pair": b'name: x\ncommand: ["\\ud800"]\n',
    "half a surrogate pair in a key": b'"\\ud800": x\n',
    "half a surrogate pair in a mapping": b'name: x\ncommand: [x]\nlimits: {"\\udfff": 1}\n',
    "NUL in the command": b'name: x\ncommand: ["a\\0b"]\n',
    "300 kB in the command": b"name: x\ncommand: [" + b"x" * 300_000 + b"]\n",
    "60 kB in the command": b"name: x\ncommand: [" + b"x" * 60_000 + b"]\n",
    "escape in the version": b'name: x\ncommand: [x]\nversion: "\\e]0;pwn\\a"\n',
    "C1 control in the version": b'name: x\ncommand: [x]\nversion: "\\x9b31m"\n',
    "text turned around": b'name: x\ncommand: [x]\nversion: "\\u202e1"\n',
    "line end in the version": b'name: x\ncommand: [x]\nversion: "1\\n2"\n',
    "escape in the name": b'name: "\\e[2J"\ncommand: [x]\n',
    "escape in a key": b'"\\e[2J": x\n',
    "escape in a key twice": b'"\\e[2J": x\n"\\e[2J": y\n',
    "escape in an author": b'name: x\ncommand: [x]\nauthors: ["\\e]0;pwn\\a"]\n',
    "escape in the description": b'name: x\ncommand: [x]\ndescription: "\\e]0;pwn\\a"\n',
    "escape in a game": b'name: x\ncommand: [x]\ngames: ["\\e]0;pwn\\a"]\n',
    "escape in a tag": b"!<\x1b]0;pwn\x07> x\n",
    "raw escape": b"name: \x1b]0;pwn\x07\n",
    "escape in an alias": b"name: *a%1b\n",
    "1200 nested lists": b"command: " + b"[" * 1200 + b"]" * 1200,
    "1200 nested mappings": b"{a: " * 1200 + b"x" + b"}" * 1200,
    "1200 nested blocks": b"".join(b" " * n + b"-\n" for n in range(300)),
    "30000 nested lists": b"[" * 30_000,
    "keys within keys": b"{? " * 20_000,
    "alias bomb": bomb(20, end="name: x").encode(),
    "alias bomb as a key": bomb(20, end="? *a19\n: x").encode(),
    "alias bomb in a set": bomb(20, end="name: !!set {? *a19}").encode(),
    "alias bomb in the command": bomb(20, end="command: *a19").encode(),
    "alias bomb of two": bomb(200, fan=2, end="command: *a199").encode(),
    "deep by aliases": bomb(2000, fan=1, end="command: *a1999").encode(),
    "long text many times": b"a: &a " + b"x" * 30_000 + b"\nauthors: [" + b", ".join([b"*a"] * 5000) + b"]",
    "merge keys": b"a: &a {x: 1}\n<<: *a\nname: x\n",
    "merge bomb": b"a: &a {x: 1}\n" + b"".join(b"b%d: &b%d {<<: [*a, *a]}\n" % (n, n) for n in range(1000)),
    "a list within itself": b"name: &a [*a]\n",
    "a mapping within itself": b"&a {name: *a}\n",
    "an alias of nothing": b"name: *" + b"a" * 60_000,
    "a set": b"name: x\ncommand: [x]\nauthors: !!set {a, 5}\n",
    "an ordered mapping": b"name: x\ncommand: [x]\nlimits: !!omap [memory_mib: 5]\n",
    "pairs": b"name: x\ncommand: !!pairs [a: b]\n",
    "binary": b"name: x\ncommand: [!!binary aGVsbG8=]\n",
    "an object of Python": b"name: !!python/object/apply:os.system [id]\n",
    "a date": b"name: x\ncommand: [x]\nversion: 2026-99-99\n",
    "a time zone beyond all": b"version: 2026-01-01 00:00:00 +99:99\n",
    "two documents": b"name: x\n---\nname: y\n",
    "nothing": b"",
    "a mark of byte order": b"\xef\xbb\xbfname: x\ncommand: [x]\n",
    "UTF-16": "name: x\ncommand: [x]\n".encode("utf-16"),
    "not UTF-8": b"name: \xff\xfe\n",
    "a line of 60 kB": b"#" * 60_000,
    "a directive": b"%YAML 9.9\n---\nname: x\n",
    "60000 tabs": b"\t" * 60_000,
    "60000 dashes": b"- " * 30_000,
    "60000 question marks": b"? " * 30_000,
    "60000 colons": b": " * 30_000,
    "60000 anchors": b"&a " * 20_000,
    "30000 keys": b"".join(b"%x:\n" % n for n in range(10_000)),
    "a number with a point as a key": b"1.5: x\n",
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_a_hostile_manifest_is_refused_soon(kind: str) -> None:
    """Each was made to hurt: by time, by memory, by what it makes of the message."""
    content = HOSTILE[kind]

    found = parsed(content)

    assert isinstance(found, str) or kind == "a mark of byte order"


@pytest.mark.slow
def test_hostile_manifests_need_little_memory() -> None:
    """All of them in one process that may not have more than Python with its libraries, and a little besides."""
    program = (
        f"import sys; sys.path[:0] = [{str(Path(__file__).parent)!r}]\n"
        "import resource, test_process_manifest_bytes as tests\n"
        "resource.setrlimit(resource.RLIMIT_AS, (tests.virtual() + tests.MOST_MEMORY,) * 2)\n"
        "for content in tests.HOSTILE.values(): tests.parsed(content)\n"
    )

    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)

    assert (ended.returncode, ended.stderr) == (0, "")


def virtual() -> int:
    """Bytes of address space that this process has."""
    return int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()


YAML_TEXTS = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.dates(),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(max_size=10), inner, max_size=5),
    max_leaves=20,
)
KEYS = st.sampled_from([*Manifest.__struct_fields__, "comand", "limit", "\x1b"])


@settings(max_examples=150)
@given(content=st.binary(max_size=300))
def test_any_bytes_are_a_manifest_or_a_mistake(content: bytes) -> None:
    """Nothing else ever comes out."""
    parsed(content)


@settings(max_examples=150)
@given(text=st.text(alphabet=st.sampled_from(list("[]{}:,-?&*!|>%@\"'#~<=\\ \n\tab01.e_xu")), max_size=200))
def test_any_marks_of_yaml_are_a_manifest_or_a_mistake(text: str) -> None:
    """Indicators in any order."""
    parsed(text.encode())


@pytest.mark.slow
@settings(max_examples=150)
@given(values=st.dictionaries(KEYS, YAML_TEXTS, max_size=6))
def test_any_values_are_a_manifest_or_a_mistake(values: dict[str, Any]) -> None:
    """Well-formed YAML of the known keys with values of any kind."""
    parsed(yaml.safe_dump(values, allow_unicode=True).encode("utf-8", "surrogatepass"))


@pytest.mark.slow
@settings(max_examples=300)
@given(seed=st.integers(0, 2**32), changes=st.integers(1, 6))
def test_a_mutated_manifest_is_a_manifest_or_a_mistake(seed: int, changes: int) -> None:
    """Bytes of a valid one changed, left out, doubled, and pieces of hostile ones put in."""
    rng, content = Random(seed), bytearray(VALID.encode())
    pieces = [b"\\ud800", b"\\0", b"*a", b"&a ", b"<<: ", b"\x1b", b"? ", b"!!set ", b"\xff", b"'", b'"', b"- ", b"[["]
    for _ in range(changes):
        at = rng.randrange(len(content))
        match rng.randrange(4):
            case 0:
                content[at] = rng.randrange(256)
            case 1:
                del content[at : at + rng.randrange(1, 8)]
            case 2:
                content[at:at] = content[at : at + rng.randrange(1, 30)]
            case 3:
                content[at:at] = rng.choice(pieces)
    parsed(bytes(content))

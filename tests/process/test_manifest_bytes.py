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
from support.hostile_manifests import HOSTILE

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
    """Read bytes as a manifest; check that it takes little CPU time and that a message is short and printable."""
    begun_s = time.process_time()
    found = read(content)
    assert time.process_time() - begun_s < MOST_CPU_S
    if isinstance(found, str):
        assert found.startswith("bot.yaml: ")
        assert found.replace("\n", "").isprintable()
        assert len(found) < 10_000
    return found


def read(content: bytes) -> Manifest | str:
    """Return the manifest, or the message of the error."""
    try:
        return parse_yaml(content, Manifest, place="bot.yaml", limit=MANIFEST_LIMIT)
    except SpecError as error:
        return str(error)


def test_the_valid_one_is_valid() -> None:
    """Otherwise its mutations would prove little."""
    found = parsed(VALID.encode())

    assert isinstance(found, Manifest)
    assert (found.build[1][2], found.description) == ("make\nmake install", "plays well\n")


@pytest.mark.parametrize("kind", HOSTILE)
def test_a_hostile_manifest_is_refused_soon(kind: str) -> None:
    """These are made to cost time or memory, or to spoil the message."""
    content = HOSTILE[kind]

    found = parsed(content)

    assert isinstance(found, str) or kind == "a mark of byte order"


@pytest.mark.slow
def test_hostile_manifests_need_little_memory() -> None:
    """All are read in one process with little more memory than Python and its libraries need."""
    program = (
        f"import sys; sys.path[:0] = [{str(Path(__file__).parent)!r}, {str(Path(__file__).parents[1])!r}]\n"
        "import resource, test_manifest_bytes as tests\n"
        "resource.setrlimit(resource.RLIMIT_AS, (tests.virtual() + tests.MOST_MEMORY,) * 2)\n"
        "for content in tests.HOSTILE.values(): tests.parsed(content)\n"
    )

    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)

    assert (ended.returncode, ended.stderr) == (0, "")


def virtual() -> int:
    """Return the bytes of address space that this process has."""
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
    """The result is a manifest or a SpecError."""
    parsed(content)


@settings(max_examples=150)
@given(text=st.text(alphabet=st.sampled_from(list("[]{}:,-?&*!|>%@\"'#~<=\\ \n\tab01.e_xu")), max_size=200))
def test_any_marks_of_yaml_are_a_manifest_or_a_mistake(text: str) -> None:
    """The input is YAML's indicators in any order."""
    parsed(text.encode())


@pytest.mark.slow
@settings(max_examples=150)
@given(values=st.dictionaries(KEYS, YAML_TEXTS, max_size=6))
def test_any_values_are_a_manifest_or_a_mistake(values: dict[str, Any]) -> None:
    """The input is well-formed YAML of the known keys with values of any type."""
    parsed(yaml.safe_dump(values, allow_unicode=True).encode("utf-8", "surrogatepass"))


@pytest.mark.slow
@settings(max_examples=300)
@given(seed=st.integers(0, 2**32), changes=st.integers(1, 6))
def test_a_mutated_manifest_is_a_manifest_or_a_mistake(seed: int, changes: int) -> None:
    """Bytes of a valid manifest are changed, left out or doubled, and pieces of hostile ones inserted."""
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

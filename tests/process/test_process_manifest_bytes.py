"""A bot.yaml of any content and of any kind of file is a manifest or a SpecError, soon and with little memory."""

import contextlib
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.errors import SpecError
from arena.process import bot_files
from arena.process.manifest import MANIFEST_LIMIT, BotSpec, Manifest, read_bot
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


@settings(max_examples=150)
@given(values=st.dictionaries(KEYS, YAML_TEXTS, max_size=6))
def test_any_values_are_a_manifest_or_a_mistake(values: dict[str, Any]) -> None:
    """Well-formed YAML of the known keys with values of any kind."""
    parsed(yaml.safe_dump(values, allow_unicode=True).encode("utf-8", "surrogatepass"))


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


# --- files of other kinds -------------------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder of a bot without a manifest."""
    place = tmp_path / "mybot"
    place.mkdir()
    (place / "bot.py").write_text("pass\n")
    return place


def refusal(path: Path) -> str:
    with pytest.raises(SpecError) as caught:
        read_bot(path)
    assert str(caught.value).replace("\n", "").isprintable()
    return str(caught.value)


def test_a_manifest_that_is_a_link_is_not_opened(folder: Path, tmp_path: Path) -> None:
    """Nothing of its target is shown, and a pipe behind it makes nobody wait."""
    (tmp_path / "shadow").write_text("root:secret:19000:0:99999:7:::\n")
    os.mkfifo(tmp_path / "pipe")
    for target in ("../shadow", "../pipe", "../nothing", "/", "bot.yaml"):
        (folder / "bot.yaml").symlink_to(target)

        message = refusal(folder)

        assert message == f"{folder}/bot.yaml: a symbolic link; put the file itself there"
        (folder / "bot.yaml").unlink()


@pytest.mark.parametrize(
    ("make", "kind"),
    [(os.mkfifo, "a pipe, socket or device"), (Path.mkdir, "a folder")],
)
def test_a_manifest_that_is_no_file_is_refused_without_waiting(
    folder: Path, make: Callable[[Path], object], kind: str
) -> None:
    """Nobody writes into the pipe."""
    make(folder / "bot.yaml")

    assert refusal(folder) == f"{folder}/bot.yaml: a bot may contain only plain files and folders, this is {kind}"


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to make a device")
def test_a_device_is_refused_without_being_opened(folder: Path) -> None:
    """As a manifest, beside one, and as a script."""
    device = os.makedev(1, 5)  # /dev/zero, which never ends
    try:
        os.mknod(folder / "bot.yaml", 0o600 | 0o020000, device)
    except OSError as error:
        pytest.skip(f"no devices here: {error}")
    os.mknod(folder / "zero.py", 0o600 | 0o020000, device)

    assert "bot.yaml: a bot may contain only plain files and folders, this is a pipe, socket or" in refusal(folder)
    assert "zero.py: a pipe, socket or device; expected a script or a folder with" in refusal(folder / "zero.py")


def test_a_pipe_is_no_script(tmp_path: Path) -> None:
    """It is told what it is, without waiting for somebody to write."""
    os.mkfifo(tmp_path / "bot.py")

    assert "bot.py: a pipe, socket or device; expected a script or a folder with a bot.yaml" in refusal(
        tmp_path / "bot.py"
    )


def test_a_huge_file_is_refused_by_its_size(folder: Path, tmp_path: Path) -> None:
    """A sparse file of 1 TiB costs nothing to make, and must cost nothing to refuse."""
    for path in (folder / "bot.yaml", tmp_path / "huge.py"):
        with path.open("wb") as file:
            file.truncate(1 << 40)

    assert refusal(folder) == f"{folder}/bot.yaml: larger than 64 KiB"
    assert refusal(tmp_path / "huge.py") == f"{tmp_path}/huge.py: larger than 64 MiB or 2000 files"


def test_a_manifest_of_one_byte_too_much_is_refused(folder: Path) -> None:
    """The limit is exact."""
    start = "name: x\ncommand: [x]\n#"
    (folder / "bot.yaml").write_text(start + "x" * (MANIFEST_LIMIT - len(start)))
    assert read_bot(folder).name == "x"

    (folder / "bot.yaml").write_text(start + "x" * (MANIFEST_LIMIT - len(start) + 1))
    assert refusal(folder) == f"{folder}/bot.yaml: larger than 64 KiB"


def test_folders_in_folders_are_refused(folder: Path) -> None:
    """1200 of them, with a file at the end, deeper than a path can say."""
    (folder / "bot.yaml").write_text("name: x\ncommand: [x]\n")
    here = os.open(folder, os.O_RDONLY)
    for _ in range(1200):
        os.mkdir("d" * 20, dir_fd=here)
        inner = os.open("d" * 20, os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = inner
    os.close(here)

    try:
        assert refusal(folder) == f"{folder}: folders lie more than 64 deep in each other"
    finally:
        subprocess.run(["rm", "-rf", str(folder)], check=True)


def test_too_many_folders_are_refused(folder: Path) -> None:
    """Empty ones count, too."""
    (folder / "bot.yaml").write_text("name: x\ncommand: [x]\n")
    for number in range(bot_files.SOURCE_FILE_LIMIT):
        (folder / f"{number}").mkdir()

    assert refusal(folder) == f"{folder}: larger than 64 MiB or 2000 files"


def test_a_folder_that_cannot_be_read_is_not_left_out_silently(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A bot whose files are half invisible would have another hash for everybody."""
    (folder / "bot.yaml").write_text("name: x\ncommand: [x]\n")
    (folder / "closed").mkdir()
    opened = os.open

    def closed(name: Any, *args: Any, **more: Any) -> int:
        if name == "closed":  # root, who may run this test, would be let in
            raise PermissionError(13, "Permission denied", name)
        return opened(name, *args, **more)

    monkeypatch.setattr(os, "open", closed)

    assert refusal(folder) == f"{folder}/closed: Permission denied"


@pytest.mark.parametrize("name", ["a\nb", "\x1b]0;pwn\x07", "\u202egnp.exe", "caf\udce9"])
def test_the_name_of_a_file_is_told_with_escapes(folder: Path, name: str) -> None:
    """Also where the folder itself has such a name, and where there is no manifest."""
    (folder / name).touch()
    assert "a bot's folder needs a bot.yaml; found " in refusal(folder)
    (folder / "bot.yaml").write_text("name: x\ncommand: [x]\n")
    assert "a file's name may contain only characters that print" in refusal(folder)
    (folder / name).unlink()
    (folder / "bot.yaml").write_text("nam: x\n")

    assert 'unknown key "nam"' in refusal(folder.rename(folder.parent / name))


def exchange(folder: Path, monkeypatch: pytest.MonkeyPatch, name: str, new: Callable[[Path], object]) -> None:
    """As soon as the names of the folder have been listed, `name` is something else."""

    def scandir(*arguments: Any, real: Any = os.scandir) -> Any:
        with real(*arguments) as found:
            entries = list(found)
        place = folder / name
        place.rename(folder.parent / "away")
        new(place)
        return contextlib.nullcontext(entries)

    monkeypatch.setattr(os, "scandir", scandir)


@pytest.mark.parametrize(
    ("name", "new", "sentence"),
    [
        ("bot.py", lambda place: place.symlink_to("/etc/passwd"), "this is a link"),
        ("bot.py", os.mkfifo, "this is a pipe, socket or device"),
        ("bot.py", lambda _: None, "it was there a moment ago, try again"),
        ("sub", lambda place: place.symlink_to("/etc"), "this is a link"),
        ("bot.yaml", lambda place: place.write_text("name: y\ncommand: [y]\n"), "was changed while it was being read"),
        ("bot.yaml", lambda place: place.symlink_to("/etc/passwd"), "this is a link"),
    ],
)
def test_what_is_exchanged_while_it_is_read_is_refused(
    folder: Path, monkeypatch: pytest.MonkeyPatch, name: str, new: Callable[[Path], object], sentence: str
) -> None:
    """Between the look at the folder and the opening of a file: a link, a pipe, nothing, another manifest."""
    (folder / "bot.yaml").write_text("name: x\ncommand: [x]\n")
    (folder / "sub").mkdir()
    (folder / "sub" / "passwd").write_text("mine\n")
    exchange(folder, monkeypatch, name, new)

    assert sentence in refusal(folder)


def test_a_file_that_grows_while_it_is_read_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its length was looked at before; no more is read than is allowed."""
    (tmp_path / "bot.py").write_text("x" * 100)
    monkeypatch.setattr(os, "fstat", lambda file, real=os.fstat: _of_length(real(file), 10))

    with pytest.raises(SpecError, match="larger than"):
        bot_files.read_file(tmp_path / "bot.py", tmp_path / "bot.py", limit=50)


def _of_length(found: os.stat_result, length: int) -> os.stat_result:
    values = list(found)
    values[6] = length
    return os.stat_result(values)


def test_all_mistakes_are_told_at_once(folder: Path) -> None:
    """Unknown keys with suggestions, wrong types, values out of range, in lists and within: one line each."""
    (folder / "bot.yaml").write_text(
        "name: no spaces\ncomand: [x]\nversion: 2\nbuild: [[make], gcc, ['']]\nprocesses: maybe\n"
        "limits: {memory_mib: 1, tasks: many, memroy: 5}\nauthors: [ann, 7]\n"
    )

    first, *mistakes = refusal(folder).splitlines()

    assert first == f"{folder}/bot.yaml: 10 mistakes:"
    assert [mistake[2:].split(":")[0].split(";")[0] for mistake in mistakes] == [
        'unknown key "comand"',
        "name",
        "version",
        "build[1]",
        "build[2][0]",
        "processes",
        "limits",
        "limits.memory_mib",
        "limits.tasks",
        "authors[1]",
    ]


def test_a_bot_of_before_has_the_hash_of_before(folder: Path) -> None:
    """Results belong to a hash: how it is computed must not change with how files are read."""
    (folder / "bot.yaml").write_text("name: simple\ncommand: [python3, bot.py]\n")
    (folder / "a").mkdir()
    (folder / "a" / "z").write_text("1")
    (folder / "a.b").write_text("2")
    (folder / "run").touch(mode=0o755)

    found: BotSpec = read_bot(folder)

    assert found.digest == "6dbe54eda66fe56ae1a773a1bd1a4637aa2933d6abd98da6e2ee86ac26ad7e41"

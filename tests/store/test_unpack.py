"""Archives of other people: what becomes of a sound one, and that a hostile one costs nobody but its author."""

import errno
import gzip
import io
import stat
import struct
import subprocess
import tarfile
import time
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest
from support.golden import Golden

from arena.errors import MachineFault
from arena.store.authors import Author
from arena.store.hand_ins import HandIn, read_hand_ins
from arena.store.unpack import unpack

MANIFEST = b"name: x\ncommand: [python3, bot.py]\n"
BOT = {"bot.yaml": MANIFEST, "bot.py": b"pass\n"}
MIB = 1 << 20


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def zipped(files: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED, modes: dict[str, int] | None = None) -> bytes:
    """A zip archive."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as archive:
        for name, content in files.items():
            info = zipfile.ZipInfo(name)
            info.compress_type = method
            info.external_attr = (modes or {}).get(name, 0o644) << 16
            archive.writestr(info, content)
    return out.getvalue()


def member(name: str, content: bytes = b"", kind: bytes = tarfile.REGTYPE, **fields: object) -> bytes:
    """A file of a tar archive, whose header has these fields."""
    info = tarfile.TarInfo(name)
    info.type, info.size, info.mode = kind, len(content), 0o644
    for field, value in fields.items():
        setattr(info, field, value)
    return info.tobuf(tarfile.GNU_FORMAT) + content + bytes(-len(content) % 512)


def tarred(files: dict[str, bytes], *more: bytes) -> bytes:
    """A tar archive."""
    return b"".join(member(name, content) for name, content in files.items()) + b"".join(more) + bytes(1024)


def real_tar(folder: str, *options: str) -> bytes:
    """What the program tar makes of a folder."""
    return subprocess.run(["tar", "-c", *options, "-f", "-", folder], capture_output=True, check=True).stdout


def list_hand_ins(text: str = "export.zip") -> list[HandIn]:
    """The hand-ins of ada and ben."""
    Path("scratch").mkdir(exist_ok=True)
    authors = [Author(name, name, "", "yes") for name in ("ada", "ben")]
    return list(read_hand_ins([text], authors, Path("scratch").absolute()))


def hand_ins(text: str = "export.zip") -> dict[str, HandIn]:
    """The hand-ins of ada and ben, by author, nobody's by their text."""
    return {hand_in.author or hand_in.text: hand_in for hand_in in list_hand_ins(text)}


@pytest.mark.parametrize("ending", ["zip", "tar", "tar.gz", "TGZ"])
@pytest.mark.parametrize("form", ["folders", "archives", "archives in folders", "scripts"])
@pytest.mark.parametrize("wrapper", ["", "course 1/week 2/"])
def test_an_export_has_a_bot_for_each_author(ending: str, form: str, wrapper: str) -> None:
    """As platforms and people pack it: with a folder around all, with what a desktop adds, archives in an archive."""
    files: dict[str, bytes] = {f"{wrapper}__MACOSX/._x": b"", f"{wrapper}.DS_Store": b""}
    for name in ("ada", "ben"):
        inner = {f"bot/{file}": content for file, content in BOT.items()}
        match form:
            case "folders":
                files |= {f"{wrapper}{name}_1_file_/{file}": content for file, content in inner.items()}
            case "archives":
                files[f"{wrapper}{name}_1_bot.zip"] = zipped(inner | {"__MACOSX/bot/._bot.yaml": MANIFEST})
            case "archives in folders":
                files[f"{wrapper}{name}_1_file_/bot.tar.gz"] = gzip.compress(tarred(inner))
            case "scripts":
                files[f"{wrapper}{name}_1_my bot.py"] = b"pass\n"
    packed = zipped(files) if ending == "zip" else tarred(files)
    Path(f"export.{ending}").write_bytes(packed if ending in {"zip", "tar"} else gzip.compress(packed))

    found = hand_ins(f"export.{ending}")

    assert {name: hand_in.reason for name, hand_in in found.items() if name in {"ada", "ben"}} == {"ada": "", "ben": ""}
    for name in ("ada", "ben"):
        path = found[name].path
        content = {file.name: file.read_bytes() for file in path.iterdir()} if path.is_dir() else path.name
        assert content == (f"{name}.py" if form == "scripts" else BOT)


@pytest.mark.parametrize("options", ["--format=gnu", "--format=posix", "--format=ustar"])
def test_a_tar_archive_keeps_long_names_and_executable_bits(options: str) -> None:
    """In each of its formats, and nothing else of its files: no time, no owner."""
    name = f"ada/{'d' * 90}/{'x' * 60}ü.sh"
    Path(name).parent.mkdir(parents=True)
    Path(name).write_text("echo\n")
    Path(name).chmod(0o4755)
    Path("ada.tar").write_bytes(real_tar("ada", options))
    Path("out").mkdir()

    assert unpack(Path("ada.tar"), Path("out")) == {"": ""}

    assert [stat.S_IMODE(path.stat().st_mode) for path in Path("out").rglob("*.sh")] == [0o700]
    assert Path("out", name).read_text() == "echo\n"


def test_an_empty_hand_in_of_an_export_is_one_without_a_bot(golden: Golden) -> None:
    """A platform makes a folder for an author who handed in nothing."""
    Path("export.zip").write_bytes(zipped({"ada_1/": b"", "ben_2/bot.py": b"pass"}))

    golden(hand_ins()["ada"].reason)


@pytest.mark.parametrize(
    "name", ["adaX", "../ada", "/ada", "ada/../ben", "\x1b[2J", "ada_1/../../../x", "..", "x" * 300]
)
def test_a_hostile_name_in_an_export_costs_no_other_hand_in(name: str, golden: Golden) -> None:
    """It is in the table as it is, and no path of it is made."""
    packed = zipped({f"{name}/bot.py": b"pass", "ben_2/bot.py": b"pass", "kim/bot.py": b"pass"})
    Path("export.zip").write_bytes(packed.replace(b"adaX", b"ada\0"))
    before = outside()

    found = {hand_in.text: hand_in for hand_in in list_hand_ins()}

    assert not found["export.zip/ben_2"].verdict
    golden(found["export.zip/kim"].reason)
    assert any("a name that no file of a bot may have" in hand_in.reason for hand_in in found.values())
    assert outside() == before
    Path("export.zip").write_bytes(zipped({f"{name}/bot.py": b"pass"}).replace(b"adaX", b"ada\0"))
    assert {hand_in.verdict for hand_in in list_hand_ins()} == {"refused", "missing"}


def test_a_full_disk_is_no_fault_of_an_author(monkeypatch: pytest.MonkeyPatch, golden: Golden) -> None:
    """Nobody is refused for it: the command ends."""

    def write_file(*_arguments: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("arena.store.unpack.write_file", write_file)
    Path("export.zip").write_bytes(zipped({"ada/bot.py": b"pass"}))

    with golden.raises(MachineFault):
        hand_ins()


def with_link(form: str) -> bytes:
    """A link out of the archive, and a file through it."""
    if form == "zip":
        modes = {"a": stat.S_IFLNK | 0o777}
        return zipped({"a": b"/tmp", "a/evil.py": b"x", **BOT}, modes=modes)
    return tarred(BOT, member("a", kind=tarfile.SYMTYPE, linkname="/tmp"), member("a/evil.py", b"x"))


def nested(depth: int) -> bytes:
    """Archives in each other."""
    content = zipped(BOT)
    for _ in range(depth):
        content = zipped({"a.zip": content})
    return content


def with_central_directory(count: int) -> bytes:
    """A zip archive that lists one file many times."""
    entry = struct.pack("<4s4B4HL2L5H2L", b"PK\1\2", 20, 3, 20, 0, 0, 0, 0, 33, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0) + b"a"
    end = struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, count & 0xFFFF, count & 0xFFFF, len(entry) * count, 0, 0)
    return entry * count + end


def with_lie(content: bytes, stated: int) -> bytes:
    """A zip archive of one file that states another size."""
    packed = bytearray(zipped({"bot.py": content}))
    for place, offset in ((packed.index(b"PK\1\2"), 24), (packed.index(b"PK\3\4"), 22)):
        packed[place + offset : place + offset + 4] = struct.pack("<L", stated)
    return bytes(packed)


def pax(record: bytes, size: int | None = None) -> bytes:
    """A header that extends the next one."""
    return member("x", record, tarfile.XHDTYPE, **({} if size is None else {"size": size}))


def bomb(size: int) -> bytes:
    """A tar archive of one file of zeros, compressed."""
    stream = zlib.compressobj(9, zlib.DEFLATED, 16 + zlib.MAX_WBITS)
    head = stream.compress(member("bot.py", size=size))
    return head + b"".join(stream.compress(bytes(MIB)) for _ in range(size >> 20)) + stream.flush()


def encrypted() -> bytes:
    """A zip archive whose file is marked as encrypted."""
    packed = bytearray(zipped(BOT))
    for mark, offset in ((b"PK\1\2", 8), (b"PK\3\4", 6)):
        packed[packed.index(mark) + offset] |= 1
    return bytes(packed)


HOSTILE: dict[str, tuple[str, Callable[[], bytes], str]] = {
    "slip": ("zip", lambda: zipped({"../../evil.py": b"x", **BOT}), "../../evil.py: a name that no file"),
    "inner slip": ("zip", lambda: zipped({"a/../../evil.py": b"x", **BOT}), "a name that no file"),
    "absolute": ("zip", lambda: zipped({"/tmp/arena-evil.py": b"x", **BOT}), "/tmp/arena-evil.py: a name"),
    "tar slip": ("tar", lambda: tarred({"../evil.py": b"x", **BOT}), "../evil.py: a name that no file"),
    "tar absolute": ("tar", lambda: tarred({"/tmp/arena-evil.py": b"x"}), "a name that no file"),
    "pax slip": ("tar", lambda: pax(b"20 path=../evil.py\n") + tarred(BOT), "../evil.py: a name that no file"),
    "link": ("zip", lambda: with_link("zip"), "a: a link, pipe or device"),
    "tar link": ("tar", lambda: with_link("tar"), "a: a link, pipe or device"),
    "hard link": ("tar", lambda: tarred(BOT, member("b", kind=tarfile.LNKTYPE, linkname="/etc/passwd")), "b: a link"),
    "device": ("tar", lambda: tarred(BOT, member("zero", kind=tarfile.CHRTYPE, devmajor=1, devminor=5)), "zero: a"),
    "block device": ("tar", lambda: tarred(BOT, member("sda", kind=tarfile.BLKTYPE, devmajor=8)), "sda: a link"),
    "pipe": ("tar", lambda: tarred(BOT, member("pipe", kind=tarfile.FIFOTYPE)), "pipe: a link, pipe or device"),
    "socket": ("zip", lambda: zipped({"s": b"", **BOT}, modes={"s": stat.S_IFSOCK | 0o777}), "s: a link, pipe or"),
    "bomb": ("zip", lambda: zipped({"bot.py": bytes(65 * MIB)}), "unpacked, larger than 64 MiB or 2000 files"),
    "bombs": ("zip", lambda: zipped({f"{n}.py": bytes(8 * MIB) for n in range(9)}), "unpacked, larger than 64 MiB"),
    "gzip bomb": ("tgz", lambda: bomb(100 * MIB), "ends too early, or is larger than 65 MiB"),
    "lying size": ("zip", lambda: with_lie(bytes(65 * MIB), 5), "a damaged archive: "),
    "huge size": ("zip", lambda: with_lie(b"x", 0xFFFFFFF0), "unpacked, larger than 64 MiB"),
    "other method": ("zip", lambda: zipped({"bot.py": bytes(9 * MIB)}, zipfile.ZIP_BZIP2), "compressed in an unusual"),
    "lzma": ("zip", lambda: zipped({"bot.py": bytes(9 * MIB)}, zipfile.ZIP_LZMA), "compressed in an unusual way"),
    "several": ("zip", lambda: zipped({f"{number}.py": b"" for number in range(2001)}), "larger than 64 MiB or 2000"),
    "long list": ("zip", lambda: with_central_directory(1_400_000), "its list of files is too long"),
    "repeated": ("zip", lambda: with_central_directory(80_000), "a damaged archive: Bad magic number"),
    "tar of many": ("tar", lambda: tarred({f"{number}.py": b"" for number in range(3_000)}), "2000 files"),
    "newline": ("zip", lambda: zipped({"a\nb.py": b"", **BOT}), "a\\nb.py: a name that no file of a bot may have"),
    "escape": ("zip", lambda: zipped({"\x1b[2J.py": b"", **BOT}), "\\x1b[2J.py: a name that no file of a bot may"),
    "nul": ("zip", lambda: zipped({"aXb.py": b"", **BOT}).replace(b"aXb.py", b"a\0b.py"), "a\\x00b.py: a name that no"),
    "long name": ("zip", lambda: zipped({"x" * 256: b"", **BOT}), "a name that no file of a bot may have"),
    "long path": ("zip", lambda: zipped({"/".join(["x" * 250] * 20): b"", **BOT}), "a name that no file"),
    "deep": ("zip", lambda: zipped({"a/" * 70 + "b": b"", **BOT}), "a name that no file of a bot may have"),
    "latin": ("tar", lambda: tarred({"\udce4.py": b"", **BOT}), "\\udce4.py: a name that no file of a bot may have"),
    "no utf-8": (
        "zip",
        lambda: zipped({"äö.py": b""}).replace("äö".encode(), b"\xff\xfe\xff\xfe"),
        "a damaged archive",
    ),
    "encrypted": ("zip", encrypted, "encrypted, or compressed in an unusual way"),
    "truncated": ("zip", lambda: zipped(BOT)[:-30], "a damaged archive: File is not a zip file"),
    "truncated tar": ("tar", lambda: tarred({"bot.py": bytes(2000)})[:1800], "ends too early"),
    "cut tar": ("tar", lambda: tarred(BOT)[:-1024], "ends too early"),
    "cut header": ("tar", lambda: tarred(BOT)[:-1324], "a damaged archive"),
    "truncated gzip": ("tar.gz", lambda: gzip.compress(tarred(BOT))[:-40], "a damaged archive"),
    "no gzip": ("tgz", lambda: b"no gzip", "a damaged archive"),
    "empty": ("zip", lambda: b"", "a damaged archive: File is not a zip file"),
    "no bot": (
        "zip",
        lambda: zipped({"report.pdf": b""}),
        "expected one folder with a bot.yaml, one script or one arch",
    ),
    "empty folder": ("zip", lambda: zipped({"a/b/": b""}), "or one archive (.zip, .tar, .tar.gz, .tgz); found 0: none"),
    "flipped": ("zip", lambda: zipped(BOT, zipfile.ZIP_STORED).replace(b"pass", b"fail"), "a damaged archive: Bad CRC"),
    "nested": ("zip", lambda: nested(20), "archives lie more than 2 deep in each other"),
    "twice": ("tar", lambda: tarred(BOT, member("bot.py", b"evil")), "bot.py: two files have this name"),
    "case": ("zip", lambda: zipped({"Bot.py": b"x", **BOT}), "two files have this name, or names that differ only"),
    "case of folders": ("zip", lambda: zipped({"a/x": b"", "A/y": b"", **BOT}), "A/y: two files have this name, or"),
    "composed": ("zip", lambda: zipped({"\u00e9": b"", "e\u0301": b"", **BOT}), "two files have this name, or"),
    "file as folder": ("zip", lambda: zipped({"a": b"", "a/b": b"", **BOT}), "a/b: two files have this name, or"),
    "sparse": ("tar", lambda: tarred(BOT, member("s", kind=tarfile.GNUTYPE_SPARSE, size=1 << 40)), "s: a link, pipe"),
    "terabyte": ("tar", lambda: tarred(BOT, member("s", size=1 << 40)), "ends too early"),
    "negative": ("tar", lambda: tarred(BOT, member("s", size=-512)), "a damaged archive"),
    "long header": ("tar", lambda: tarred(BOT, pax(b"1" * (30 * MIB))), ""),
    "chain": ("tar", lambda: pax(b"20 path=../evil.py\n") * 600 + tarred(BOT), "a name that no file of a bot"),
    "zeros": ("tar.gz", lambda: gzip.compress(b"") * 100_000, "ends too early"),
}


@pytest.mark.parametrize("attack", HOSTILE)
@pytest.mark.parametrize("form", ["beside", "inside"])
def test_a_hostile_archive_is_refused_alone(attack: str, form: str) -> None:
    """Within 10 s, with a sentence that prints; nothing is written outside, and the other hand-in is accepted."""
    ending, make, reason = HOSTILE[attack]
    content = make()
    Path("in/ben").mkdir(parents=True)
    Path("in/ben/bot.yaml").write_bytes(MANIFEST)
    place = Path("in/ada") if form != "beside" else Path("in")
    place.mkdir(exist_ok=True)
    Path(place, f"ada.{ending}").write_bytes(content)
    if form == "inside":
        Path("export.zip").write_bytes(real_zip("in"))
    before, start = outside(), time.process_time()

    found = hand_ins("export.zip" if form == "inside" else "in")

    assert time.process_time() - start < 10
    assert outside() == before
    assert found["ada"].reason.isprintable()
    assert "scratch" not in found["ada"].reason
    assert reason in found["ada"].reason
    assert bool(reason) == (found["ada"].verdict == "refused")
    assert not found["ben"].verdict
    assert not any(path.is_symlink() or not (path.is_dir() or path.is_file()) for path in Path("scratch").rglob("*"))


def real_zip(folder: str) -> bytes:
    """A stored zip archive of a folder."""
    files = {str(path): path.read_bytes() for path in sorted(Path(folder).rglob("*")) if path.is_file()}
    return zipped(files, zipfile.ZIP_STORED)


def outside() -> set[str]:
    """The files beside the scratch folder, and what an absolute path would have made."""
    here = {str(path) for path in Path().rglob("*") if path.parts[0] != "scratch"}
    return here | {str(path) for path in Path("/tmp").glob("*evil*")} | {path.name for path in Path("..").iterdir()}

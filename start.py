#!/usr/bin/env python3
"""Sets the project up in .venv and runs it there. Needs Python >= 3.11 and nothing else.

    python3 start.py league run tournaments/first.yaml     any `arena` command
    python3 start.py test                                  all checks: ruff, mypy, import order, pytest
    python3 start.py test tests/games -x                   pytest with these arguments, nothing else
    python3 start.py test checks                           all checks but the tests
    python3 start.py test ruff mypy                        these checks: ruff, format, mypy, imports, language

Rule: standard library only, and every step says what it does. A second call finds .venv ready and starts at once.
"""

import hashlib
import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent
VENV = ROOT / ".venv"
PYTHON = VENV / "bin" / "python"
MARK = VENV / "arena-is-installed"
CONSTRAINTS = ROOT / ".ci" / "constraints.txt"
COMMON = "not slow and not guest"
WORKERS = str(min(2 * len(os.sched_getaffinity(0)), 8)) if hasattr(os, "sched_getaffinity") else "2"
"""Processes that share the tests out among them, file by file, in the order of
tests/conftest.py: many tests wait. Those marked `alone` follow later."""
ALONE = sorted(str(path) for path in ROOT.glob("tests/**/test_*.py") if "mark.alone" in path.read_text())
"""The files that have such tests."""
CHECKS = {
    "ruff": ("ruff", "check", "."),
    "format": ("ruff", "format", "--check", "."),
    "mypy": ("mypy",),
    "imports": ("lint-imports", "--no-logo"),
    "language": ("pytest", "-q", "tests/test_language.py"),
}
"""Checks by name; all of them are a hook before a commit, too."""
QUICK = (CHECKS["ruff"], CHECKS["format"])
BESIDE = (CHECKS["mypy"], CHECKS["imports"])
"""Checks that run while the tests do; their output is shown afterwards."""
TESTS = (
    ("pytest", "-m", f"not alone and {COMMON}", "-n", WORKERS, "--dist", "loadfile", "--no-loadscope-reorder"),
    ("pytest", "-m", f"alone and {COMMON}", *ALONE),
)


def main() -> int:
    """Set up if need be, then run what the arguments say; its exit code."""
    if sys.version_info < (3, 11):  # noqa: UP036 - an older Python gets this sentence instead of a traceback
        return _fail(f"Python 3.11 or newer is needed, this is {sys.version.split()[0]}")
    if sys.platform != "linux":
        return _fail("arena works on Linux only: use WSL2, Docker or a virtual machine")
    os.chdir(ROOT)
    arguments = sys.argv[1:] or ["--help"]
    is_test = arguments[0] == "test"
    if not _set_up("dev" if is_test else "riffraff"):
        return 1
    # Containers often set it: then each of the many Pythons that tests start compiles arena anew.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    if not is_test:
        os.execv(VENV / "bin" / "arena", ["arena", *arguments])
    if asked := arguments[1:]:
        names = [*CHECKS] if asked == ["checks"] else asked
        return _first_failure(
            tuple(CHECKS[name] for name in names) if set(names) <= {*CHECKS} else (("pytest", *asked),)
        )
    return _first_failure(QUICK) or _tests()


def _first_failure(checks: tuple[tuple[str, ...], ...]) -> int:
    return next((code for check in checks if (code := _run(*check))), 0)


def _tests() -> int:
    """Run the tests and, beside them, the checks that wait for nothing; the exit code of the first that failed."""
    beside = [
        subprocess.Popen(
            [VENV / "bin" / program, *options], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        for program, *options in BESIDE
    ]
    if not any(ROOT.glob("tests/*/__pycache__/*-pytest-*.pyc")):
        # After a fresh clone each worker would compile all tests. What is wrong with one is told by the run below.
        subprocess.call([VENV / "bin" / "pytest", "--collect-only", "-q"], stdout=subprocess.DEVNULL)
    codes = [_first_failure(TESTS)]
    for check, process in zip(BESIDE, beside, strict=True):
        print(f"start.py: {' '.join(check)}\n{process.communicate()[0]}", end="", flush=True)
        codes.append(process.returncode)
    return next((code for code in codes if code), 0)


def _set_up(extra: str) -> bool:
    """Make .venv with the project in it; `extra` names the optional dependencies to add."""
    wanted = _fingerprint(extra)
    if MARK.exists() and wanted in MARK.read_text(encoding="utf-8").split():
        return True
    if not PYTHON.exists() or not _has_pip():
        print("start.py: making .venv", flush=True)
        if not _make_venv():
            return False
    print("start.py: installing the project into .venv", flush=True)
    what = f".[{extra}]" if extra else "."
    environment = {**os.environ, "PIP_CONSTRAINT": str(CONSTRAINTS), "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    code = subprocess.call(
        [PYTHON, "-m", "pip", "install", "--quiet", "--use-pep517", "--editable", what], env=environment
    )
    if code:
        _fail("the packages could not be installed; pip's message is above. Is the package index reachable?")
        return False
    known = MARK.read_text(encoding="utf-8") if MARK.exists() else ""
    MARK.write_text(f"{known}{wanted}\n", encoding="utf-8")
    return True


def _make_venv() -> bool:
    """Make a virtual environment with pip."""
    if importlib.util.find_spec("ensurepip") is None and not _install_python3_venv():
        return _fail("this Python cannot make virtual environments: install python3-venv and call this again") == 0
    shutil.rmtree(VENV, ignore_errors=True)
    # A process of its own: this one may have started before python3-venv was there.
    return subprocess.call([sys.executable, "-m", "venv", str(VENV)]) == 0


def _install_python3_venv() -> bool:
    """Install the package in which Debian and Ubuntu keep what virtual environments need."""
    if shutil.which("apt-get") is None:
        return False
    apt = ["apt-get"] if os.geteuid() == 0 else ["sudo", "apt-get"]
    install = [*apt, "install", "-y", "-q", "python3-venv"]
    print(f"start.py: this Python lacks ensurepip; running `{' '.join(install)}`", flush=True)
    if subprocess.call(install) == 0:
        return True
    # A fresh machine has no package lists yet.
    return subprocess.call([*apt, "update", "-q"]) == 0 and subprocess.call(install) == 0


def _has_pip() -> bool:
    return subprocess.call([PYTHON, "-c", "import pip"], stderr=subprocess.DEVNULL) == 0


def _fingerprint(extra: str) -> str:
    """Return a text that changes whenever what must be installed does, or where the project lies."""
    parts = [(ROOT / "pyproject.toml").read_bytes(), CONSTRAINTS.read_bytes(), str(ROOT).encode(), extra.encode()]
    return hashlib.sha256(b"\0".join(parts)).hexdigest()


def _run(program: str, *arguments: str) -> int:
    print(f"start.py: {' '.join([program, *arguments])}", flush=True)
    return subprocess.call([VENV / "bin" / program, *arguments])


def _fail(reason: str) -> int:
    print(f"start.py: {reason}", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())

"""Workflows of a forge and hooks before a commit: they cannot run here, but what they run is what is run here."""

import re
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[1]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
LANES = re.findall(r"^lane_(\w+)\(\)", (ROOT / ".ci" / "run").read_text(encoding="utf-8"), re.MULTILINE)
FOR_THE_FORGE = ("sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0",)
"""Of no use anywhere else."""


def jobs(path: Path) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = yaml.safe_load(path.read_text(encoding="utf-8"))["jobs"]
    return found


def commands() -> list[str]:
    """Of all steps of all workflows."""
    steps = [step for path in WORKFLOWS for job in jobs(path).values() for step in job["steps"]]
    return sorted({step["run"] for step in steps if "run" in step} - set(FOR_THE_FORGE))


def of_start(name: str) -> Any:
    """A name of start.py."""
    names: dict[str, Any] = {"__name__": "start", "__file__": str(ROOT / "start.py")}
    exec(compile((ROOT / "start.py").read_text(encoding="utf-8"), "start.py", "exec"), names)
    return names[name]


def test_tests_that_run_alone_lie_where_start_looks_for_them() -> None:
    """In each of those folders, and in no other."""
    files = [path for path in (ROOT / "tests").glob("*/*.py") if "mark.alone" in path.read_text(encoding="utf-8")]

    assert {str(path.parent.relative_to(ROOT)) for path in files} == set(of_start("ALONE"))


@pytest.mark.parametrize("command", commands())
def test_a_workflow_runs_what_is_run_here(command: str) -> None:
    """Lanes of `.ci/run`, or a command of the page that tells how a release is made."""
    if command.startswith("bash .ci/run"):
        assert set(command.split()[2:]) <= {"tests", *LANES}
    else:
        assert command in (ROOT / "docs" / "release.md").read_text(encoding="utf-8")


def test_all_lanes_have_a_turn() -> None:
    """Each has its command, and a name that is none ends the run before anything is installed."""
    text = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    (listed,) = re.findall(r"^lanes=\((.*)\)$", text, re.MULTILINE)

    refused = subprocess.run(
        ["bash", str(ROOT / ".ci" / "run"), "tests", "nonsense"], capture_output=True, text=True, check=False
    )

    assert sorted(listed.split()) == sorted(LANES)
    assert (refused.returncode, refused.stdout) == (2, f"ci: no lane nonsense; known: tests {listed}\n")


def test_the_lanes_of_ci_run_tests_that_are_there() -> None:
    """A lane whose file has moved would end with an error that only CI sees."""
    named = re.findall(r"tests/[\w/.]*\w", (ROOT / ".ci" / "run").read_text(encoding="utf-8"))

    assert len(named) > 10
    assert [path for path in named if not (ROOT / path).exists()] == []


def test_the_pythons_are_those_that_the_package_promises() -> None:
    """By its classifiers; the oldest one is what it requires, and builds the release."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    promised = re.findall(r"Python :: (3\.\d+)", " ".join(project["classifiers"]))

    matrix = jobs(ROOT / ".github" / "workflows" / "tests.yml")["tests"]["strategy"]["matrix"]["python"]
    pythons = re.findall(r'python-version: "(.*)"', "".join(path.read_text() for path in WORKFLOWS))

    assert matrix == promised
    assert set(pythons) == {promised[0]}
    assert project["requires-python"] == f">={promised[0]}"


def test_the_hooks_are_the_checks_of_start() -> None:
    """Each check is a hook of its own, under its name."""
    (local,) = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8"))["repos"]

    assert {hook["id"]: hook["entry"] for hook in local["hooks"]} == {
        name: f"python3 start.py test {name}" for name in of_start("CHECKS")
    }
    assert all(hook["language"] == "system" and not hook["pass_filenames"] for hook in local["hooks"])

"""Workflows of a forge: they cannot run here, but what they run is what is run here."""

import os
import re
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[1]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


def jobs(path: Path) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = yaml.safe_load(path.read_text(encoding="utf-8"))["jobs"]
    return found


@pytest.mark.parametrize("script", ["run", "extra"])
def test_workflows_name_lanes_that_there_are(script: str) -> None:
    """A name that is none ends a run before anything is installed, and lists those that are."""
    done = subprocess.run(["bash", ROOT / ".ci" / script, "nonsense"], capture_output=True, text=True, check=False)
    known = done.stdout.partition("known: ")[2].split()
    used = re.findall(rf"bash \.ci/{script}(.*)", "".join(path.read_text(encoding="utf-8") for path in WORKFLOWS))

    assert done.returncode == 2
    assert len(known) <= 9
    assert {name for names in used for name in names.split()} <= set(known)
    assert used


def test_the_pythons_are_those_that_the_package_promises() -> None:
    """By its classifiers; the oldest one is what it requires, and builds the release."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    promised = re.findall(r"Python :: (3\.\d+)", " ".join(project["classifiers"]))

    matrix = jobs(ROOT / ".github" / "workflows" / "tests.yml")["tests"]["strategy"]["matrix"]["python"]
    pythons = re.findall(r'python-version: "(.*)"', "".join(path.read_text() for path in WORKFLOWS))

    assert matrix == promised
    assert set(pythons) == {promised[0]}
    assert project["requires-python"] == f">={promised[0]}"


def test_the_readme_of_a_release_has_no_relative_link(tmp_path: Path) -> None:
    """The forge's own address leads them to the files of that version; pictures to their bytes."""
    (command,) = [
        step["run"]
        for step in jobs(ROOT / ".github" / "workflows" / "release.yml")["build"]["steps"]
        if "README" in step.get("name", "")
    ]
    (tmp_path / "README.md").write_bytes((ROOT / "README.md").read_bytes())
    forge = {"GITHUB_SERVER_URL": "https://forge.invalid", "GITHUB_REPOSITORY": "a/b", "GITHUB_REF_NAME": "v1"}
    subprocess.run(["bash", "-c", command], cwd=tmp_path, check=True, env=os.environ | forge)
    targets = re.findall(r"\]\(([^)]*)\)", (tmp_path / "README.md").read_text(encoding="utf-8"))

    assert [target for target in targets if not target.startswith("https://")] == []
    assert "https://forge.invalid/a/b/raw/v1/docs/picture.svg" in targets
    assert "https://forge.invalid/a/b/blob/v1/SECURITY.md" in targets

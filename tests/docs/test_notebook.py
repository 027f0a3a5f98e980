"""The example notebook runs from top to bottom in a real kernel, and shows a table and pictures."""

from pathlib import Path

import pytest

pytestmark = [pytest.mark.slow, pytest.mark.process]
NOTEBOOK = Path(__file__).parents[2] / "docs" / "notebook.ipynb"


def test_the_notebook_runs(tmp_path: Path) -> None:
    nbformat, nbclient = (
        pytest.importorskip(name, reason="`pip install -e '.[docs]'` brings it") for name in ("nbformat", "nbclient")
    )
    notebook = nbformat.read(NOTEBOOK, as_version=4)

    nbclient.NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(tmp_path)}}).execute()

    shown = [set(output.get("data", ())) for cell in notebook.cells for output in cell.get("outputs", ())]
    assert shown[0] >= {"text/plain", "text/html"}
    assert ["image/svg+xml" in each for each in shown] == [False, False, True, True, False]

"""`python benchmarks/run.py`: every figure the project has a goal for, side by side, in one run.

Rule: each section stands alone. One that fails says so and the others still run; exit code 1 then, 0 otherwise, because
a missed goal on a busy machine is a figure to look at and not an error.
"""

import json
import os
import platform
import sys
import tempfile
import traceback
from importlib import import_module
from pathlib import Path
from typing import Any, Final

import click
from measure import Machine, machine_speed
from tables import Table

SECTIONS: Final = {
    "league": "leagues",
    "scale": "scaling",
    "request": "parts",
    "driver": "driver",
    "cluster": "clusters",
    "playouts": "playouts",
    "openspiel": "openspiel_speed",
    "settle": "settling",
    "startup": "commands",
    "leaderboard": "leaderboard",
    "site": "sites",
    "hang": "hangs",
    "sandbox": "isolation",
    "fair": "fairness",
    "soak": "hostile_soak",
}
"""The module of each section, imported when it runs, so that a broken one does not stop the others."""


@click.command()
@click.option("--quick", is_flag=True, help="Fewer samples: under a minute.")
@click.option("--only", type=click.Choice(list(SECTIONS)), multiple=True, help="Only this section; may be repeated.")
@click.option(
    "--fastchess",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="The built fastchess, with which `league` compares.",
)
@click.option("--json", "json_file", type=click.Path(path_type=Path), help="Write all figures to this file, too.")
def main(*, quick: bool, only: tuple[str, ...], fastchess: Path | None, json_file: Path | None) -> None:
    """Measure, and print each figure beside its goal."""
    if fastchess is not None:
        os.environ["FASTCHESS"] = str(fastchess.resolve())
    # Bots run with the Python of this run, whatever `python3` means in the caller's shell.
    os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    whole = Machine()
    print(_machine_line(), end="\n\n", flush=True)
    with tempfile.TemporaryDirectory(prefix="arena-bench-") as folder:
        reports = [_run(name, Path(folder), is_quick=quick) for name in only or SECTIONS]
    misses = sum(report["misses"] for report in reports)
    failed = [report["section"] for report in reports if "error" in report]
    print(
        f"{whole.elapsed_s():.0f} s in all; {misses} figures miss their goal; sections that failed: {failed or 'none'}"
    )
    if json_file is not None:
        document = {"machine": _machine_line(), "quick": quick, "sections": reports}
        json_file.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    sys.exit(1 if failed else 0)


def _run(name: str, scratch: Path, *, is_quick: bool) -> dict[str, Any]:
    """Run one section and print it; return its report for JSON."""
    machine, before = Machine(), machine_speed()
    try:
        tables: list[Table] = import_module(SECTIONS[name]).measure(scratch, is_quick=is_quick)
    except Exception as error:  # noqa: BLE001 - one broken section shall not cost the others
        traceback.print_exc()
        print(f"== {name}: FAILED: {type(error).__name__}: {error}\n", flush=True)
        return {"section": name, "misses": 0, "tables": [], "error": f"{type(error).__name__}: {error}"}
    seconds, others = machine.elapsed_s(), machine.others()
    print(f"== {name} ({seconds:.0f} s; meanwhile others kept {others:.1f} cores busy)\n")
    speed = (f"machine before: {before}", f"machine after: {machine_speed()}")
    for table in tables:
        print(table.text(), *(f"  {line}" for line in speed), sep="\n", end="\n\n", flush=True)
    return {
        "section": name,
        "seconds": seconds,
        "cores_busy_with_others": others,
        "machine_speed": speed,
        "misses": sum(table.misses() for table in tables),
        "tables": [table.plain() for table in tables],
    }


def _machine_line() -> str:
    load = "/".join(f"{value:.1f}" for value in os.getloadavg())
    cores = len(os.sched_getaffinity(0))
    return f"{cores} cores, load {load}, Python {platform.python_version()}, Linux {platform.release()}"


if __name__ == "__main__":  # worker processes import this file, too
    main()

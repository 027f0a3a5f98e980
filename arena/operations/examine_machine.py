"""The doctor: whether bots can be run safely on this machine, or on the workers of a cluster."""

import os
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from msgspec import UNSET

from arena.doctor import machine, sandbox
from arena.doctor.machine import CheckResult, checked
from arena.operations.playing import ClusterChoice
from arena.operations.request import Request
from arena.process.sandbox import runtimes, scope, self_test

if TYPE_CHECKING:
    from arena.cluster.survey import SurveyedWorker


class ExamineMachine(Request, frozen=True, kw_only=True):
    """An examination of this machine and its folder of results; or of the workers of a cluster, each on its machine."""

    cluster: ClusterChoice = ClusterChoice()


class Diagnosis(msgspec.Struct, frozen=True):
    """The results about the sandbox and about the machine around it."""

    is_safe: bool
    sandbox: tuple[CheckResult, ...]
    machine: tuple[CheckResult, ...]


class ClusterDiagnosis(msgspec.Struct, frozen=True):
    """The workers of a cluster, this machine, and the results for each worker by its name."""

    workers: "tuple[SurveyedWorker, ...]"
    here: "SurveyedWorker"
    results: dict[str, tuple[CheckResult, ...]]

    @property
    def unfit(self) -> int:
        """The number of workers that cannot play."""
        return sum(any(result.status == "BAD" for result in results) for results in self.results.values())


def examine_machine(request: ExamineMachine) -> Diagnosis:
    """Examine this machine. A check that fails is a result, not an error.

    This process gets a control group as before a match; a hostile program tries the sandbox. Only where that holds,
    limits and languages are examined.
    """
    why_no_group = scope.enter()
    sandbox_results = checked("sandbox", lambda: sandbox.sandbox(self_test.attempt_escapes))
    is_safe = all(result.status == "ok" for result in sandbox_results)
    machine_results = [
        *checked("system", machine.system),
        *checked("games", machine.games),
        *checked("cores", machine.cores),
        *checked("clocks", machine.clocks),
        *checked("open files", machine.descriptors),
        *checked("tools", machine.tools),
        *checked("results", lambda: [*machine.disk(request.results), *machine.privacy(request.results)]),
    ]
    if is_safe:
        sandbox_results += checked("limits", lambda: sandbox.own_promises(why_no_group))
        folders, path = runtimes.search_path, os.environ.get("PATH", "")
        sandbox_results += checked("languages", lambda: sandbox.languages(folders(), path, Path.home()))
    return Diagnosis(is_safe, tuple(sandbox_results), tuple(machine_results))


def examine_cluster(request: ExamineMachine) -> ClusterDiagnosis:
    """Examine the workers of a cluster, and compare them with this machine. SpecError if its settings are invalid."""
    from arena.cluster.survey import SurveyedWorker, faults, report, survey  # noqa: PLC0415 - only for a cluster

    cluster = request.cluster.select(UNSET, None)
    assert cluster is not None, "the request has a choice"
    here, workers = report(), survey(cluster)
    results = {worker.name: tuple(faults(worker, here)) for worker in workers}
    return ClusterDiagnosis(tuple(workers), SurveyedWorker("(here)", here), results)

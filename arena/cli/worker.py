"""`arena worker`: workers of a cluster on this machine."""

import logging

import click

from arena.cli.edge import print_warning
from arena.cli.options import WORKERS, requesting
from arena.operations.events import Event
from arena.operations.run_worker import RunWorker, WorkersStarting, run_worker


@click.command()
@requesting(RunWorker, without={"results"})
@click.argument("cluster", metavar="ADDRESS|FILE")
@click.option("--workers", type=WORKERS, help="Matches played at once; default: all cores.")
@click.option(
    "--name", show_default=False, help="The workers are called NAME-0, NAME-1, ...; default: this machine's name."
)
def worker(request: RunWorker) -> None:
    """Play matches for the leagues of a dask cluster until Ctrl-C or SIGTERM.

    FILE names its scheduler and certificates, by the keys of `cluster:` in a tournament file. Leagues that are run with
    `--cluster FILE` use all workers. Bots come by themselves, once each, into the folder ARENA_WORKER_CACHE or one
    among the temporary files. Workers need no results and no secret. Everybody who reaches the scheduler can run
    programs here, as this user.

    Example: arena worker cluster.yaml
    """
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(name)s %(levelname)s %(message)s")
    run_worker(request, _print_names)


def _print_names(event: Event) -> None:
    """Print the names of the workers, and warnings."""
    if isinstance(event, WorkersStarting):
        names = event.first if event.first == event.last else f"{event.first} to {event.last}"
        click.echo(f"{names} for {event.address}; Ctrl-C ends", err=True)
    print_warning(event)

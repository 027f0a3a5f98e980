"""`arena worker`: workers of a cluster on this machine."""

import logging
import platform
from pathlib import Path

import click

from arena.cli.options import WORKERS, ClusterOptions, local_workers, option_named, scheduler_options
from arena.errors import SpecError
from arena.process.limits import Limits


@click.command()
@click.argument("address", default="", metavar="[ADDRESS]")
@click.option("--workers", type=WORKERS, help="Matches played at once; default: all cores.")
@click.option("--name", default=platform.node(), metavar="NAME", help="The workers are called NAME-0, NAME-1, ...")
@click.option(
    "--cache",
    default="",
    show_default=False,
    metavar="FOLDER",
    help="Folder of bots; default: one for temporary files.",
)
@click.option("--patience", type=click.FloatRange(1, 86_400), default=300.0, help="Seconds to wait for the scheduler.")
@scheduler_options
def worker(address: str, workers: int | None, name: str, cache: str, patience: float, cluster: ClusterOptions) -> None:
    """Play matches for the dask scheduler at ADDRESS, or of --scheduler-file, until Ctrl-C or SIGTERM.

    Leagues that are run with `--cluster ADDRESS` use all workers of the scheduler. Bots come by themselves, once each.
    Workers need no results and no secret; everybody who reaches the scheduler can run programs here, as this user.

    Example: arena worker tls://10.0.0.1:8786 --tls-ca ca.pem --tls-cert host.pem --tls-key host.key
    """
    if cache:
        with option_named("--cache"):
            _require_folder(Path(cache))
    settings = cluster.placed(address)
    from arena.cluster.serve import WorkerPlaces, keep_workers  # noqa: PLC0415 - dask is slow to import

    count = local_workers(workers, [Limits()] * 2)
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(name)s %(levelname)s %(message)s")
    first, last = f"{name}-0", f"{name}-{count - 1}"
    click.echo(f"{first if count == 1 else f'{first} to {last}'} for {settings.address}; Ctrl-C ends", err=True)
    keep_workers(settings, WorkerPlaces(count, name, cache, patience))


def _require_folder(path: Path) -> None:
    """Make the folder, for this user alone, if it is not there.

    SpecError if that cannot be.
    """
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise SpecError(f"{path}: {error.strerror}") from None

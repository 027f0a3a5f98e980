"""Programs of a cluster on this machine."""

import subprocess
import sys
from pathlib import Path

BIN = Path(sys.executable).parent


def make_certificates(folder: Path) -> None:
    new = "-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes"
    for line in (
        f"openssl req -x509 {new} -days 2 -keyout ca.key -out ca.pem -subj /CN=authority",
        f"openssl req {new} -keyout host.key -out host.csr -subj /CN=host",
        "openssl x509 -req -in host.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 -out host.pem",
    ):
        subprocess.run(line.split(), cwd=folder, check=True, capture_output=True)

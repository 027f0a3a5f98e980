"""Changes of a database behind the back of arena."""

import sqlite3
from contextlib import closing
from pathlib import Path


def execute_sql(path: Path, *statements: str) -> None:
    """Execute and commit them; each UPDATE or DELETE must find a row."""
    with closing(sqlite3.connect(path)) as connection, connection:
        for statement in statements:
            assert connection.execute(statement).rowcount, f"nothing was changed by {statement}"

"""The fake clock of the tests: time passes only when told."""


class FakeClock:
    """A CPU clock and a wall clock that go only when told; wall time also by a little with every look."""

    def __init__(self) -> None:
        self.cpu_s = 0.0
        self.wall_s = 0.0

    def cpu(self) -> float:
        return self.cpu_s

    def wall(self) -> float:
        self.wall_s += 0.001
        return self.wall_s

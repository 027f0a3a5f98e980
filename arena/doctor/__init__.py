"""The machine, its sandbox and its languages, looked at before somebody plays on it."""

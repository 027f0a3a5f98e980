"""The sandbox: bubblewrap around each bot, a system call filter in it, limits on it, and a self-test of all of them.

Rule: it works as designed or not at all. A missing part is a `HarnessFault` that names it and the remedy; nothing here
falls back to less.
"""

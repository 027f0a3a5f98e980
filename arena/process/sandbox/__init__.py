"""The sandbox: a bubblewrap box around each bot, a system call filter in it, limits on it, and a probe of all of them.

Rule: it works as designed or not at all. Whatever is missing is a `HarnessFault` that says what and what to do about
it; nothing here falls back to less.
"""

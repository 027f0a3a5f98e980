"""The store: one SQLite database in results/, and the bots by content hash beside it.

Rule: all SQL is here, the main process is the only writer, and what is stored never changes.
"""

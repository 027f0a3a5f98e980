"""The face of arena as a library: leagues, matches and games as values for a script, a notebook or a test.

Rule: it touches no process, signal, start method, logger or working folder that it did not make. Matches are
played and checked in a child process; the functions here start it, listen to it, and end it.
"""

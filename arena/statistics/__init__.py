"""Estimates and tests over results: numbers in, numbers out.

Rule: nothing here knows a game, a bot, a file or the store; of arena only `arena.errors` may be imported. A player is a
name, a result is who sat where and who came where. Every function gives the same bytes for any order of the matches.
Modules that need numpy are imported only when something is calculated: a command that prints a help text must not wait
for it.
"""

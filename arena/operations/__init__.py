"""The use cases, one module each; the command line and the library are doors to them.

Rule: `operation(request, on=ignore) -> value`. A request is a frozen struct with every choice of the user and its
default; a value is a struct or what a lower package computes; errors are those of `arena.errors`; progress and warnings
are events. An operation prints nothing and sets no signal handler, umask, working folder or logging: its door does.

The request `RunLeague` and the operation `run_league` stand in the module `run_league`, and so do all others.
"""

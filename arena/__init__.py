"""A tournament and bot-competition harness: referee, leagues, ratings, and the store behind them.

The packages read as one sentence, and imports go only from right to left in it: games, spoken by a protocol,
over processes, in a match, in a league, kept in a store, shown in a report, driven by a command line.
"""

__version__ = "0.2.0"

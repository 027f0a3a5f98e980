"""Who meets whom, round by round: one module for each kind of schedule, on players' names alone.

Rule: pure. A schedule knows no keys, seeds, files or workers, and of matches only their results; so the same results
give the same next round, whoever was faster and however often the league was stopped.
"""

"""Many matches: what is to be played, in which order, by whom, in parallel; and what follows from the results.

Rule: a league is a value. Everything about it (fixtures, seeds, ids, standings) is computed from that value and from
stored results; nothing depends on the order in which matches end.
"""

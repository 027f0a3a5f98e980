"""The numbers of a league: what its matches add up to, and all that follows from that.

Rule: every number is computed here, once, from sums over blocks and from ranks in the order of the schedule. Nothing
here knows a tournament, a schedule or the store, so that schedules can use it, too.
"""

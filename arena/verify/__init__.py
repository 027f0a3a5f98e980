"""Stored matches, standings and the luck of a league, recomputed from the records."""

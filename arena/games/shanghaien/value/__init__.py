"""The value of a Shanghaien position: expected final result, and luck as its change at each draw."""

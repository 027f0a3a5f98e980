"""Positions as text and as SVG. Rule: pure functions of a state; no physics, and no rules but who won."""

"""Bots as files and as processes: manifest and content hash, launch and kill, pipes with deadlines, clocks.

Rule: bytes only. Nothing here knows what a line means.
"""

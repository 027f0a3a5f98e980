"""A match: bots and rules brought together, what is kept of it, and how it is checked afterwards.

Rule: this is where protocol, process and games meet; they do not know each other.
"""

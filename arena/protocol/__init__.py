"""What referee and bot say to each other: the messages of `arena/1`, their lines, and when each is legal.

Rule: meaning only. Nothing here reads or writes a pipe, looks at a clock or knows a game.
"""

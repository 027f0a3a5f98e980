"""The protocol of referee and bot: the messages of `arena/1`, their lines, and their legal order.

Rule: meaning only. Nothing here reads or writes a pipe, looks at a clock or knows a game.
"""

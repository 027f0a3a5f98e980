"""Web pages of the leagues of a results folder, as files and live.

Rule: nothing is computed here. Every number comes from the functions that reports use, every text of a bot or a player
is escaped, no file is called after one, and of a match only that is shown which everybody at the table may know.
"""

"""The conformance check of a bot, step by step."""

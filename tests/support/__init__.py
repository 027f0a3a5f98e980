"""All that test modules share: doubles, made leagues, independent references, boxes to start bots in.

Tests import them as `from support.toy_game import ToyGame`.
"""

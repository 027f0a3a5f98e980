"""Shared doubles of the tests: one toy game, one scripted bot, one fake clock.

Tests import them as `from support.toy_game import ToyGame`.
"""

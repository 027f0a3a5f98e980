"""Riff Raff: cargo on a rocking ship, for two to four players."""

"""Runs: chunks of rays over worker processes, kept on disk, tallied."""

"""Runs: chunks of rays are computed in worker processes, kept on disk, and tallied."""

"""Compiled loops over rays and points: single, brute_force, stream, chords, points, and the steps they share."""

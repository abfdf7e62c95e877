"""The process of a program that uses the library: its threads, forks and signals, and the facts for a bug report."""

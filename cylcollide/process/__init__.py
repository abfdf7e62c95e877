"""The process of a program that uses the library: its threads, forks and signals, and what a bug report says of it."""

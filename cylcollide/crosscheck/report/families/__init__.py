"""The page of a run by families: its words, its figures, its advice, and the cases that it shows."""

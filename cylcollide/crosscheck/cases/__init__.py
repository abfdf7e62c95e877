"""Single cases: saved, re-run, minimised, explained."""

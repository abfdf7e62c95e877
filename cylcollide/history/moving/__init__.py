"""Flying bullets: while they fly, limbs move from tick to tick; what each bullet hits first."""

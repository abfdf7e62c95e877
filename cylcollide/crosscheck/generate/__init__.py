"""Generation of rays, targets and motions."""

"""What is fired at what: rays, targets, motions."""

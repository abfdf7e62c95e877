"""The command line of the cross-check."""

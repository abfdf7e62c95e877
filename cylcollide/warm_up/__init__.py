"""Machine code made ahead: the function and the command."""

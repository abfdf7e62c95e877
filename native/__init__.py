"""The build of the machine code: it is not installed, and no process of a user imports it."""

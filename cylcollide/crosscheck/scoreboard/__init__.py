"""The scoreboard: every engine asked the same segments."""

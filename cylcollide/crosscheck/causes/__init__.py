"""Why an engine disagrees: measured properties of the engine, geometry of the rounded solid, one cause per row."""

"""The specification: hits, chords and sides of points in rational arithmetic, with Python integers and no rounding.

Every float64 is an integer times a power of two, so one common scale turns a query into integers; all that follows is
addition, multiplication and comparison. Square roots are compared, never taken.
"""

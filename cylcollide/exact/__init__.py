"""The same questions in rational arithmetic: plain Python integers, no rounding. This is the specification.

Every float64 is an integer times a power of two, so one common scale turns a query into integers; all that follows is
addition, multiplication and comparison. Square roots are compared, never taken.
"""

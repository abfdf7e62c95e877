"""One question a file; numbers in, numbers out; scalar functions that numba compiles."""

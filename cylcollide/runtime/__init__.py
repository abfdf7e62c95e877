"""What compiled loops run on: compiler options, SIMD operations, memory, threads. Knows nothing of rays or limbs."""

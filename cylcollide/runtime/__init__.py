"""What compiled loops run on: compiler options, SIMD operations, memory, threads. Independent of rays and limbs."""

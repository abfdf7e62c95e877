"""Runtime of the compiled loops: marks, levels of machine code, SIMD operations, memory. Independent of limbs."""

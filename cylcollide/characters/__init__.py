"""Characters: rigs, clips and policies; plain data, from which `world` makes rows of limbs."""

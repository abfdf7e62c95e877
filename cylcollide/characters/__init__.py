"""Characters: rigs, clips and policies; plain data, of which `world` makes rows of limbs."""

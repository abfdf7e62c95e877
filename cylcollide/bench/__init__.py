"""The benchmark: the same rays and limbs in every installed engine, interleaved, disagreements resolved exactly."""

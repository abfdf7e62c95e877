"""The benchmark: the same rays and limbs in every engine that is installed, interleaved, verdicts settled."""

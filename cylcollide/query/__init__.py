"""From a checked request to its answer: request, strategy, loop, exact fallback, hits."""

"""From a specification to a record: inputs, workers, and what they report."""

"""Metrics of repeatability and deviation, pure array mathematics.

Every metric is an accumulator with ``update``, ``merge`` and ``read``: merging the accumulators of
shards equals one pass over all of it.
"""

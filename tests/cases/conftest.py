"""The stand-in is a runtime for worker processes; this one has the real runtime."""

collect_ignore = ["stand_in"]

"""The story of a script's randomness: what a run told, where two runs part, and how it reads."""

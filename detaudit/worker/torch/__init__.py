"""Targets that torch drives."""

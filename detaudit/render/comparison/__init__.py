"""Renderers of a comparison of records: one file per format."""

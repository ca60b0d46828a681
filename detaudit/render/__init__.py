"""Reports as text: one file per format, one for the wording that they share."""

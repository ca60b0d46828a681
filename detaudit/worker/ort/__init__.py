"""Targets that ONNX Runtime drives."""

"""Opening models: ONNX files, audonnx folders, zip archives of either, and those of torch."""

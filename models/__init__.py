"""The memory domain, every pure decision, and the ONNX models behind them."""

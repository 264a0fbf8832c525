"""The ONNX models behind the gates: manifest, provisioning, tokenizer, pair encoding, cross-encoder, bi-encoder."""

"""Where ONNX Runtime runs each node of a model: its providers' registrations, and the walks that choose among them."""

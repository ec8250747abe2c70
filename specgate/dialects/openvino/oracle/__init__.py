"""Oracle that runs the openvino package in a subprocess."""

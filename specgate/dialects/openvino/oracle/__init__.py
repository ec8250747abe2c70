"""The openvino package as oracle, asked in a process of its own."""

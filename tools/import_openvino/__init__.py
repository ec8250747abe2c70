"""Hold tables against what the openvino package states of its operations, and begin the ones that are missing."""

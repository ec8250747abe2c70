"""DxDispatch models: read, written, and run with buffers as bytes."""

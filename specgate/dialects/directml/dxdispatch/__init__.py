"""DxDispatch models: read, write and run them."""

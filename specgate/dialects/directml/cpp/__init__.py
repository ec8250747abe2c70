"""DirectML's tables as one C++ header that judges descriptions in the process which makes them."""

"""The DirectML tables as a C++ header that validates descriptors."""

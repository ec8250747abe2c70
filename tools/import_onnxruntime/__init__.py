"""Import of kernel registrations of ONNX Runtime packages into tables.

Also compares the tables with a package.
"""

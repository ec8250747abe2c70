"""Comparison of tables with the openvino package.

Also creates skeletons of missing tables.
"""

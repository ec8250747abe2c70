"""Worker processes of this process.

They end with this process, answer within a time limit or are killed, and are restarted.
"""

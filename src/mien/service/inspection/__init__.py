"""Looking into what users upload, in a process of its own with bounds on time and memory.

`process` is the side of the service, `child` the program that it starts, `look` what that one does.
"""

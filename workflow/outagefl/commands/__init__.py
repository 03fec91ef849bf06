"""The commands of ``python -m outagefl``: modules with ``add_arguments`` and ``execute``; a docstring is the help.

What takes long to import, such as torch, is imported only when a command is executed.
"""

"""What runs inside the process of a target.

The parent starts ``__main__.py`` of this folder with the interpreter of the target, which needs
nothing but NumPy and the runtime that it drives: no detaudit is installed there.
"""

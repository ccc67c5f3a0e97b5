"""The modules of packaging/build.py. They import only the standard library and run other programs."""

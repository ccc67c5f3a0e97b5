"""The attack campaign: `python -m tests.campaign [--minutes N] [--seed S] [--only NAME]`.

It tries to hurt the person at the window: with kills, starvation, damaged files, lying servers, hostile text
and other users of the machine. Each module in `attacks` is one attack with its own judge; `attack.py` says
what such a module contains. The end is a table of tries, and of how each ended.
"""

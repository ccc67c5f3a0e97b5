"""Engines elsewhere: servers of language models that the user has added. Imports neither torch nor Qt.

`engines` keeps the list, `models` asks a server what it serves, and a `RemoteConnection` is a client's
connection to one, with the methods of `EngineConnection`. `AnyEngine` is the connection of a program that
uses the engine on this machine and those elsewhere. Nothing is sent to an engine that was not added.
"""

"""A machine with a graphics card in virtual time: it runs the engine's own code for streaming, but its clock
moves only while every thread waits. What it tells was computed, not measured."""

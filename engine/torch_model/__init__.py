"""Passes by torch: transformers' modules over weights as plain numbers, packed or streamed. The way for
graphics cards and for mixtures, and the reference of compiled passes."""

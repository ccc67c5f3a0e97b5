"""Constraints on an answer: which tokens may follow which path. `masks` explains the idea."""

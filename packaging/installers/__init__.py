"""What packaging/build.py is made of. Standard library only; other programs are named where they are used."""

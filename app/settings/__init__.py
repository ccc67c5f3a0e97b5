"""The pages a person sets things on, made from lists of options."""

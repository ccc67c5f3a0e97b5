"""A calculator: arithmetic on numbers, by walking the syntax tree. Nothing is evaluated as a program."""

import ast
import math
import operator
from collections.abc import Callable

from app.tools.fault import ToolFault

LENGTH = 500  # characters of an expression
MOST_BITS = 4096  # of a whole number
MOST_POWER = 1000  # of an exponent

Number = int | float
_BETWEEN: dict[type[ast.operator], Callable[[Number, Number], Number]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}
_BEFORE: dict[type[ast.unaryop], Callable[[Number], Number]] = {
    ast.UAdd: operator.pos,
    ast.USub: operator.neg,
}
_NAMES: dict[str, Number] = {"pi": math.pi, "e": math.e}
_FUNCTIONS: dict[str, Callable[..., Number]] = {
    "abs": abs, "round": round, "min": min, "max": max, "sqrt": math.sqrt, "exp": math.exp, "log": math.log,
    "log2": math.log2, "log10": math.log10, "sin": math.sin, "cos": math.cos, "tan": math.tan,
    "asin": math.asin, "acos": math.acos, "atan": math.atan, "floor": math.floor, "ceil": math.ceil,
}  # fmt: skip


def calculate(expression: str) -> str:
    """Return the value of an expression as text. Raises ToolFault if it is none, or too large."""
    if len(expression) > LENGTH:
        raise _fault("it is too long")
    try:
        tree = ast.parse(expression.replace("^", "**").strip(), mode="eval")
        value = _value(tree.body)
    except (SyntaxError, ValueError, TypeError, ArithmeticError, RecursionError, MemoryError) as error:
        raise _fault(str(error) or type(error).__name__) from error
    return str(value)


def _value(node: ast.expr) -> Number:
    match node:
        case ast.Constant(value=int() | float() as value) if not isinstance(value, bool):
            return _bounded(value)
        case ast.Name(id=name) if name in _NAMES:
            return _NAMES[name]
        case ast.UnaryOp(op=op, operand=operand) if type(op) in _BEFORE:
            return _BEFORE[type(op)](_value(operand))
        case ast.BinOp(left=left, op=ast.Pow(), right=right):
            return _power(_value(left), _value(right))
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _BETWEEN:
            return _bounded(_BETWEEN[type(op)](_value(left), _value(right)))
        case ast.Call(func=ast.Name(id=name), args=args, keywords=[]) if name in _FUNCTIONS:
            return _bounded(_FUNCTIONS[name](*map(_value, args)))
    raise ValueError("only numbers, + - * / // % **, brackets and common functions are understood")


def _power(base: Number, exponent: Number) -> Number:
    if abs(exponent) > MOST_POWER:
        raise ValueError("the exponent is too large")
    result = base**exponent
    if isinstance(result, complex):
        raise ValueError("the result is not a real number")
    return _bounded(result)


def _bounded(value: Number) -> Number:
    if isinstance(value, int) and value.bit_length() > MOST_BITS:
        raise ValueError("the number is too large")
    return value


def _fault(reason: str) -> ToolFault:
    return ToolFault(f"This cannot be calculated: {reason[:200]}.", "Write it as numbers and operators.")

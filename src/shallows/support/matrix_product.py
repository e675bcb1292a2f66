"""Matrix products inside compiled code: BLAS, called at its address.

NumPy's `dot` inside a compiled function compiles a check of its arguments and a branch for empty ones at every place it
is used, a tenth of a second each; here it is one call, with sizes that the caller knows. It is the BLAS that SciPy has.

Importing this module imports numba: do it inside functions.
"""

from __future__ import annotations

from typing import Any

from llvmlite import binding, ir
from numba import types
from numba.core import cgutils
from numba.extending import get_cython_function_address, intrinsic

_pointers: Any = types.CPointer
_declared: Any = cgutils.get_or_insert_function
_on_stack: Any = cgutils.alloca_once
_decorated: Any = intrinsic
_address: Any = get_cython_function_address
_FLOATS: Any = _pointers(types.float64)
#: The name under which compiled code finds BLAS, in this process and, from the cache, in later ones.
SYMBOL = "shallows.dgemm"


def find() -> None:
    """Tell the linker where BLAS is."""
    if not binding.address_of_symbol(SYMBOL):
        binding.add_symbol(SYMBOL, _address("scipy.linalg.cython_blas", "dgemm"))


def _generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
    """BLAS counts columns first: it is asked for yᵀxᵀ. Numbers are handed over by address."""
    x, x_turned, y, y_turned, out, rows, inner, columns = arguments
    integer, real, letter = ir.IntType(32), ir.DoubleType(), ir.IntType(8)

    def slot(value: Any) -> Any:
        place = _on_stack(builder, value.type)
        builder.store(value, place)
        return place

    def number(value: Any) -> Any:
        return slot(builder.trunc(value, integer))

    def flag(turned: Any) -> Any:
        return slot(builder.select(turned, letter(ord("t")), letter(ord("n"))))

    one, zero = slot(real(1.0)), slot(real(0.0))
    lead_x = number(builder.select(x_turned, rows, inner))
    lead_y = number(builder.select(y_turned, inner, columns))
    width = number(columns)
    given = [
        flag(y_turned), flag(x_turned), width, number(rows), number(inner), one, y, lead_y, x, lead_x, zero, out, width,
    ]  # fmt: skip
    kind = ir.FunctionType(ir.VoidType(), [each.type for each in given])
    builder.call(_declared(builder.module, kind, SYMBOL), given)


def _product(
    _context: Any,
    _x: Any,
    _x_turned: Any,
    _y: Any,
    _y_turned: Any,
    _out: Any,
    _rows: Any,
    _inner: Any,
    _columns: Any,
) -> Any:
    """out = xy (rows × columns) with a sum over `inner`, all row by row; x or y is turned first where it is said so."""
    size, flag = types.intp, types.boolean
    return types.void(_FLOATS, flag, _FLOATS, flag, _FLOATS, size, size, size), _generate


product: Any = _decorated(_product)
find()

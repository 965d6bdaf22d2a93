"""One compiled walk over the regular lines of LETOR; importing it needs numba.

The walk reads numbers of few digits itself, all others with :func:`_number`: a call that numba does
not inline counts references to the arrays it is given, which takes longer than the digits.

A decimal is a whole number m < 10¹⁸ times 10^e. With m ≤ 2⁵³ and |e| ≤ 22 both are exact in double
precision, and so one product or quotient is rounded as ``float`` rounds the text. Any other value
is known up to four units in the last place. Rounding is monotone: where both ends of that interval
are the same 32-bit number, it is the one of the text. What is left goes back to the caller.
"""

from __future__ import annotations

import numpy as np
from numba.extending import register_jitable
from numpy.typing import NDArray

from rankwise._jit import kernel
from rankwise.data.letor._lines import LAST

_BLANK, _TAB, _END, _RETURN, _COMMENT, _COLON = 32, 9, 10, 13, 35, 58
_POINT, _MINUS, _PLUS, _LITTLE_E, _BIG_E = 46, 45, 43, 101, 69
_EXACT = 2**53  # whole numbers up to it are exact in double precision
_FULL = 10**17  # a further digit is below the precision of a double
_LARGEST = 60  # exponent of 10; beyond it a value is near no 32-bit number except 0 and infinity
_POWERS = np.array([float(f"1e{n}") for n in range(-_LARGEST, _LARGEST + 1)])
_POWERS_EXACT = 22  # 10²² is the last power of ten that is exact
_FEW = 15  # digits of a number that is surely exact
_LESS, _MORE = 1 - 2.0**-50, 1 + 2.0**-50


@register_jitable
def _number(text: NDArray[np.uint8], i: int) -> tuple[float, bool, int]:  # noqa: PLR0912, PLR0915
    """Return the number at a place, whether it is rounded once, and the place after it.

    The place is −1 where there is no number. NaN stands for a value beyond the powers of ten.
    """
    negative = text[i] == _MINUS
    if negative or text[i] == _PLUS:
        i += 1
    mantissa, exponent, digits, is_whole = np.int64(0), 0, 0, True
    digit = np.int64(text[i]) - 48
    while 0 <= digit <= 9:
        if mantissa < _FULL:
            mantissa = 10 * mantissa + digit
        else:
            exponent, is_whole = exponent + 1, False
        digits, i = digits + 1, i + 1
        digit = np.int64(text[i]) - 48
    if text[i] == _POINT:
        i += 1
        digit = np.int64(text[i]) - 48
        while 0 <= digit <= 9:
            if mantissa < _FULL:
                mantissa = 10 * mantissa + digit
                exponent -= 1
            else:
                is_whole = False
            digits, i = digits + 1, i + 1
            digit = np.int64(text[i]) - 48
    if digits == 0:
        return 0.0, False, -1
    if text[i] == _LITTLE_E or text[i] == _BIG_E:
        i += 1
        falls = text[i] == _MINUS
        if falls or text[i] == _PLUS:
            i += 1
        written, first = np.int64(0), i
        digit = np.int64(text[i]) - 48
        while 0 <= digit <= 9:
            if written < _FULL:
                written = 10 * written + digit
            i += 1
            digit = np.int64(text[i]) - 48
        if i == first:
            return 0.0, False, -1
        exponent += int(-written if falls else written)
    is_exact = True
    if mantissa == 0 or exponent == 0:
        value = float(mantissa)
        is_exact = is_whole and bool(mantissa <= _EXACT)
    elif is_whole and mantissa <= _EXACT and -_POWERS_EXACT <= exponent <= _POWERS_EXACT:
        if exponent > 0:
            value = mantissa * _POWERS[_LARGEST + exponent]
        else:
            value = mantissa / _POWERS[_LARGEST - exponent]
    elif -_LARGEST <= exponent <= _LARGEST:
        value, is_exact = mantissa * _POWERS[_LARGEST + exponent], False
    else:
        value, is_exact = np.nan, False
    return -value if negative else value, is_exact, i


@kernel
def walk(  # noqa: PLR0911, PLR0912, PLR0915, PLR0917
    text: NDArray[np.uint8],
    columns: NDArray[np.int32],
    values: NDArray[np.float32],
    ends: NDArray[np.int64],
    target: NDArray[np.float64],
    queries: NDArray[np.int64],
    left: NDArray[np.int64],
) -> tuple[int, int, bool]:
    """Fill arrays with the rows of a text that ends with a line; return rows, values left, queried.

    ``ends`` is the number of values up to each row. ``left`` has a row of place, end and number of
    each value that is left to the caller. The rows are −1 where a line is not of the common form.
    """
    other = (-1, 0, False)
    i, row, n, n_left, queried = 0, 0, 0, 0, False
    while i < len(text):
        j = i
        while text[j] == _BLANK or text[j] == _TAB:
            j += 1
        if text[j] == _COMMENT:
            while text[j] != _END:
                j += 1
            i = j + 1
            continue
        if text[i] == _END or (text[i] == _RETURN and text[i + 1] == _END):
            i += 1
            continue
        value, is_exact, i = _number(text, i)
        if i < 0 or not is_exact:
            return other
        target[row] = value
        has_query = text[i] == _BLANK and text[i + 1] == 113  # qid:
        if has_query:
            if text[i + 2] != 105 or text[i + 3] != 100 or text[i + 4] != _COLON:
                return other
            i += 5
            query, first, digit = np.int64(0), i, np.int64(text[i]) - 48
            while 0 <= digit <= 9:
                query = 10 * query + digit
                if query >= _EXACT:
                    return other
                i += 1
                digit = np.int64(text[i]) - 48
            if i == first:
                return other
            queries[row] = query
        if row == 0:
            queried = has_query
        elif has_query != queried:
            return other
        before = np.int64(-1)
        while text[i] == _BLANK:
            i += 1
            digit = np.int64(text[i]) - 48
            if not 0 <= digit <= 9:
                break
            column = np.int64(0)
            while 0 <= digit <= 9:
                column = 10 * column + digit
                if column > LAST:
                    return other
                i += 1
                digit = np.int64(text[i]) - 48
            if text[i] != _COLON or column <= before:
                return other
            before, i = column, i + 1
            start, mantissa, places = i, np.int64(0), 0
            if text[i] == _MINUS:
                i += 1
            first, digit = i, np.int64(text[i]) - 48
            while 0 <= digit <= 9:
                mantissa = 10 * mantissa + digit
                i += 1
                digit = np.int64(text[i]) - 48
            digits = i - first
            if digit == _POINT - 48:
                i += 1
                digit = np.int64(text[i]) - 48
                while 0 <= digit <= 9:
                    mantissa = 10 * mantissa + digit
                    i += 1
                    digit = np.int64(text[i]) - 48
                places = i - first - digits - 1
                digits += places
            if 0 < digits <= _FEW and digit != _LITTLE_E - 48 and digit != _BIG_E - 48:
                value = mantissa / _POWERS[np.uint64(_LARGEST + places)]
                short = np.float32(-value if text[start] == _MINUS else value)
            else:
                value, is_exact, i = _number(text, start)
                if i < 0:
                    return other
                short = np.float32(value)
                if np.isinf(short) or (
                    not is_exact and np.float32(value * _LESS) != np.float32(value * _MORE)
                ):
                    if n_left == len(left):
                        return other
                    left[n_left, 0], left[n_left, 1], left[n_left, 2] = start, i, n
                    n_left += 1
            columns[n], values[n] = column, short
            n += 1
        j = i
        while text[j] == _BLANK or text[j] == _TAB:
            j += 1
        if text[j] == _COMMENT:
            while text[j] != _END:
                j += 1
            i = j
        elif text[i] == _RETURN:
            i += 1
        if text[i] != _END:
            return other
        i += 1
        row += 1
        ends[row] = n
    return row, n_left, queried

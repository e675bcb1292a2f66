"""JSON as the standard has it: what is no finite number is null, since NaN and Infinity are no JSON."""

from __future__ import annotations

import json
import math
from typing import Any


def strict_json(value: Any, indent: int | None = 1) -> str:
    """The text of a document; NaN and infinities in it are null.

    >>> strict_json({"gap": float("nan"), "losses": [1.5, float("inf")]}, indent=None)
    '{"gap": null, "losses": [1.5, null]}'
    """
    return json.dumps(_finite(value), ensure_ascii=False, indent=indent, allow_nan=False)


def _finite(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: _finite(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(entry) for entry in value]
    return value

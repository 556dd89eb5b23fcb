# SPDX-License-Identifier: BSD-3-Clause
"""Values of users in messages."""

from __future__ import annotations

from typing import Any

__all__ = ["shorten"]


def shorten(value: Any, limit: int = 60) -> str:
    """``repr`` of a value, cut to a length that fits a message; its type where there is no ``repr``."""
    try:
        text = repr(value).replace("\n", " ")
    except Exception:  # an int of thousands of digits, or an object that can't say what it is
        text = f"a {type(value).__name__}"
    return text if len(text) <= limit else text[: limit - 3] + "..."

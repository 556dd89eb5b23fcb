# SPDX-License-Identifier: BSD-3-Clause
"""Values on the command line: ``--set NAME=VALUE`` and lists of numbers."""

from __future__ import annotations

import ast
from collections.abc import Callable

import click

__all__ = ["Numbers", "set_option"]


def set_option(help: str) -> Callable:
    """The option ``--set NAME=VALUE``, given any number of times; its value comes as the dict ``settings``."""
    return click.option("--set", "settings", multiple=True, metavar="NAME=VALUE", callback=_settings, help=help)


def _settings(context, parameter, values: tuple[str, ...]) -> dict:
    out = {}
    for text in values:
        name, equals, value = text.partition("=")
        name = name.strip()
        if not equals or not name.isidentifier():
            raise click.BadParameter(f"{text!r} is not of the form NAME=VALUE")
        if name in out:
            raise click.BadParameter(f"{name} is set twice")
        out[name] = _value(value.strip())
    return out


def _value(text: str):
    """A Python literal, or ``inf``, or else the text itself."""
    if text in ("inf", "+inf"):
        return float("inf")
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return text


class Numbers(click.ParamType):
    """Numbers separated by commas."""

    def __init__(self, kind: type):
        self.kind = kind
        self.name = "number,..."

    def convert(self, value, parameter, context) -> list:
        """The list of them."""
        if isinstance(value, list):
            return value
        try:
            numbers = [self.kind(word) for word in value.split(",")]
        except ValueError:
            noun = "whole numbers" if self.kind is int else "numbers"
            self.fail(f"{value!r} is no list of {noun} such as 1,2", parameter, context)
        if len(set(numbers)) < len(numbers):
            self.fail(f"{value!r} names a number twice", parameter, context)
        return numbers

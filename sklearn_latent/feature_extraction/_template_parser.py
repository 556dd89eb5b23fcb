# SPDX-License-Identifier: BSD-3-Clause
"""Templates: what one is, the notation they are written in, and the presets."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

__all__ = ["FIRST", "LAST", "PADDED", "PRESETS", "SKIP", "Item", "Template", "resolve_templates"]

# What happens where an item lies outside of the sequence, and the two templates that mark its ends. The kernels
# know these numbers.
SKIP, PADDED, FIRST, LAST = 0, 1, 2, 3

# Bounds that no sensible template meets; they keep a typing error from asking for gigabytes.
MAX_ROW = 1000
MAX_ITEMS = 64

MACRO = re.compile(r"%x\[\s*([+-]?\d+)\s*,\s*(\d+)\s*\]")
CONSTANT = re.compile(r"U\w*:?")


@dataclass(frozen=True)
class Item:
    """One string that a template reads: of which token, counted from the present one, and which column.

    ``derived`` is None for the string of the column itself, else what is made of it (see `_columns.derive`).
    """

    row: int
    column: int
    derived: str | None = None


@dataclass(frozen=True)
class Template:
    """A tuple of items; each distinct tuple of their strings is one feature.

    ``text`` tells templates apart. A feature is shown as ``prefix``, then the strings of the items with
    ``separators`` between them (one less than items), then ``suffix``. ``edge`` marks a B line.
    """

    text: str
    items: tuple[Item, ...]
    kind: int
    prefix: str
    separators: tuple[str, ...] = ()
    suffix: str = ""
    edge: bool = False


# -- presets ----------------------------------------------------------------------------------------

WINDOW = ((-2,), (-1,), (0,), (1,), (2,))
PAIRS = ((-2, -1), (-1, 0), (0, 1), (1, 2))
TRIPLES = ((-2, -1, 0), (-1, 0, 1), (0, 1, 2))
AFFIX_LENGTHS = (1, 2, 3, 4)


def _block(name: str, column: int, windows: Sequence[tuple[int, ...]], derived: str | None = None) -> list[Template]:
    block = []
    for rows in windows:
        prefix = "|".join(f"{name}[{row}]" for row in rows) + "="
        items = tuple(Item(row, column, derived) for row in rows)
        block.append(Template(prefix, items, SKIP, prefix, ("|",) * (len(rows) - 1)))
    return block


def _words(word: int, pos: int) -> list[Template]:
    return _block("w", word, (*WINDOW, (-1, 0), (0, 1)))


def _parts_of_speech(word: int, pos: int) -> list[Template]:
    return _block("pos", pos, (*WINDOW, *PAIRS, *TRIPLES))


def _orthography(word: int, pos: int) -> list[Template]:
    affixes = [f"{end}{length}" for end in ("prefix", "suffix") for length in AFFIX_LENGTHS]
    block = [template for affix in affixes for template in _block(affix, word, ((0,),), affix)]
    return block + _block("shape", word, (*WINDOW, *PAIRS), "shape")


# Blocks of each preset. np-chunking has no need of the second column.
PRESETS = {
    "bio-ner": (_words, _parts_of_speech, _orthography),
    "chunking": (_words, _parts_of_speech),
    "np-chunking": (_words,),
}


def _preset(name: str, columns: Sequence[str]) -> list[Template]:
    word, pos = _preset_columns(columns)
    if pos is None and _parts_of_speech in PRESETS[name]:
        raise ValueError(
            f"templates={name!r} reads the columns 'word' and 'pos', but columns={tuple(columns)!r} has no 'pos'"
        )
    templates = [template for block in PRESETS[name] for template in block(word, pos)]
    return [*templates, Template("__BOS__", (), FIRST, "__BOS__"), Template("__EOS__", (), LAST, "__EOS__")]


def _preset_columns(columns: Sequence[str]) -> tuple[int, int | None]:
    # By name; where a user has other names for both, by place.
    columns = list(columns)
    if "word" not in columns and "pos" not in columns:
        return 0, (1 if len(columns) > 1 else None)
    if "word" not in columns:
        raise ValueError(f"the presets read a column 'word', but columns={tuple(columns)!r} has none")
    return columns.index("word"), (columns.index("pos") if "pos" in columns else None)


# -- notation ---------------------------------------------------------------------------------------


def resolve_templates(templates, columns: Sequence[str]) -> list[Template]:
    """Turn the parameter `templates` into templates.

    Parameters
    ----------
    templates : str, os.PathLike or sequence of str
        Name of a preset, text of a template file, path to one, or single templates.
    columns : sequence of str
        Names of the columns, in the order in which ``%x[row,col]`` counts them.

    Returns
    -------
    list of Template
        In the order given, each text once. A bare ``B`` is left out.

    Raises
    ------
    ValueError
        If a template can't be read or a name is no preset.
    """
    if isinstance(templates, str):
        if templates in PRESETS:
            return _preset(templates, columns)
        if "\n" in templates or "%x" in templates:
            return _parse(_lines(templates), columns, "line")
        if not os.path.isfile(templates):
            known = ", ".join(repr(name) for name in sorted(PRESETS))
            raise ValueError(
                f"templates={templates!r} is neither a preset ({known}) nor the text of a template file "
                "nor a path to an existing one"
            )
    if isinstance(templates, (str, os.PathLike)):
        path = Path(templates)
        return _parse(_lines(path.read_text(encoding="utf-8-sig")), columns, f"{path}, line")
    for k, text in enumerate(templates):
        if not isinstance(text, str):
            raise ValueError(f"templates[{k}] is {text!r}, but a template is a string")
    return _parse([(k, text.strip()) for k, text in enumerate(templates)], columns, "templates")


def _lines(text: str) -> list[tuple[int, str]]:
    """Numbered lines of a template file that hold a template; judged to begin as such files want it."""
    lines = []
    for number, line in enumerate(text.split("\n"), start=1):
        line = line.strip()
        if not line or line.startswith("#"):
            continue
        if line[0] not in "UB":
            raise ValueError(f"bad template, line {number}: {line!r} begins with neither U nor B")
        lines.append((number, line))
    return lines


def _parse(lines: list[tuple[int, str]], columns: Sequence[str], where: str) -> list[Template]:
    templates = {}
    for number, text in lines:
        if text == "B" or text in templates:
            continue
        try:
            templates[text] = _parse_template(text, columns)
        except ValueError as error:
            place = f"templates[{number}]" if where == "templates" else f"{where} {number}"
            raise ValueError(f"bad template, {place}: {text!r} {error}") from None
    return _with_distinct_prefixes(list(templates.values()))


def _parse_template(text: str, columns: Sequence[str]) -> Template:
    items = []
    for match in MACRO.finditer(text):
        row, column = int(match[1]), int(match[2])
        if column >= len(columns):
            raise ValueError(f"reads column {column}, but there are {len(columns)}: {tuple(columns)!r}")
        if abs(row) > MAX_ROW:
            raise ValueError(f"reaches {abs(row)} tokens far; {MAX_ROW} is the most")
        items.append(Item(row, column))
    literals = MACRO.split(text)[::3]
    if any("%x" in literal for literal in literals):
        raise ValueError("has a %x that is not of the form %x[row,column]")
    if not items and not CONSTANT.fullmatch(text):
        raise ValueError("has no %x[row,column]")
    if len(items) > MAX_ITEMS:
        raise ValueError(f"has {len(items)} items; {MAX_ITEMS} is the most")
    prefix, suffix = literals[0], literals[-1] if items else ""
    return Template(text, tuple(items), PADDED, prefix, tuple(literals[1:-1]), suffix, edge=text.startswith("B"))


def _with_distinct_prefixes(templates: list[Template]) -> list[Template]:
    """Show the whole text of templates whose literal beginnings don't tell them apart."""
    out = []
    for template in templates:
        others = (other.prefix for other in templates if other is not template)
        if any(p.startswith(template.prefix) or template.prefix.startswith(p) for p in others):
            separators = ("|",) * max(len(template.items) - 1, 0)
            prefix = f"{template.text}=" if template.items else template.text
            template = replace(template, prefix=prefix, separators=separators, suffix="")
        elif "" in template.separators:  # ab + c and a + bc are two features
            template = replace(template, separators=tuple(s or "|" for s in template.separators))
        out.append(template)
    return out

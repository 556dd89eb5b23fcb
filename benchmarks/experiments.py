# SPDX-License-Identifier: BSD-3-Clause
"""What the reproductions of experiments share: results in files that a later sitting goes on from, and trials."""

from __future__ import annotations

import argparse
import itertools
import json
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from types import MappingProxyType

from sklearn_latent.io._atomic import atomic_write

__all__ = ["check_settings", "combinations", "grid", "read_json", "sittings", "trial_name", "write_json"]


def read_json(path: Path) -> dict | None:
    """A result, None if it is not there."""
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else None


def write_json(path: Path, result: dict) -> None:
    """Write a result whole or not at all."""
    with atomic_write(path) as file:
        file.write(json.dumps(result, indent=1).encode())


def check_settings(result: dict, settings: dict, path: Path) -> None:
    """Refuse a result of other settings of training.

    Raises
    ------
    ValueError
    """
    for key, value in settings.items():
        if result["settings"].get(key) != value:
            raise ValueError(
                f"{path.name} was made with {key}={result['settings'].get(key)!r}, not {value!r}: "
                "give the same settings, another --results, or delete it"
            )


def grid(
    kinds: Mapping[str, Callable], choices: Mapping[str, Collection[str]] = MappingProxyType({})
) -> Callable[[str], tuple[str, list]]:
    """A reader of ``NAME=V,...`` on the command line, for the names that `kinds` can read values of.

    `choices` are the only values of some names.
    """

    def read(text: str) -> tuple[str, list]:
        name, equals, values = text.partition("=")
        if name not in kinds or not equals:
            raise argparse.ArgumentTypeError(f"expected NAME=V,... with NAME of {', '.join(kinds)}, got {text!r}")
        found = [kinds[name](value) for value in values.split(",")]
        for value in found:
            if value not in choices.get(name, found):
                raise argparse.ArgumentTypeError(f"{name}={value} is none of {', '.join(choices[name])}")
        return name, found

    return read


def combinations(values: Mapping[str, list]) -> list[dict]:
    """Every combination of the values of some settings."""
    return [dict(zip(values, chosen, strict=True)) for chosen in itertools.product(*values.values())]


def trial_name(trial: dict) -> str:
    """End of the name of a trial's files."""
    return "".join(f"-{key}={value}" for key, value in sorted(trial.items()))


def sittings(machines: list[dict]) -> str:
    """A sentence on the machine that results come from; `machines` are what `harness.machine` said of each."""
    loads = [machine["load"][0] for machine in machines]
    commits = ", ".join(sorted({machine["commit"] for machine in machines if machine["commit"]}))
    last = machines[-1]
    clock = "" if last["clock_mhz"] is None else f" at {last['clock_mhz'] / 1e3:.1f} GHz"
    return (
        f"{last['cpus']} processors ({last['machine']}{clock}), shared with other work: load {min(loads):.1f} to "
        f"{max(loads):.1f} at the end of runs. Python {last['python']}, numpy {last['numpy']}, SciPy {last['scipy']}; "
        f"commit {commits}."
    )

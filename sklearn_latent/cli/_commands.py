# SPDX-License-Identifier: BSD-3-Clause
"""The group of commands, and what becomes of errors and warnings."""

from __future__ import annotations

import contextlib
import os
import warnings
from collections import Counter
from collections.abc import Iterator

import click
from click.shell_completion import shell_complete

from .. import __version__
from ._completion import PROGRAM, VARIABLE, completion
from ._evaluate import evaluate
from ._inspect import inspect
from ._tag import tag
from ._train import train

__all__ = ["commands", "run"]


@click.group(
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="""
    \b
    Examples:
      sklearn-latent train train.txt --model chunker.zip --template chunking
      sklearn-latent tag --model chunker.zip < new.txt > tagged.txt
      sklearn-latent evaluate tagged.txt
      sklearn-latent train --help

    Exit codes: 0 done, 1 the input is at fault, 2 the call is, 130 interrupted.
    """,
)
@click.version_option(__version__, "--version", prog_name=PROGRAM, message="%(prog)s %(version)s")
def commands() -> None:
    """Latent-variable conditional random fields for labelling sequences.

    Files hold a token a line, columns separated by TABs or spaces, and an empty line after each sequence.
    """


@commands.command("demo", add_help_option=False, context_settings={"ignore_unknown_options": True})
@click.argument("args", nargs=-1, type=click.UNPROCESSED)
@click.pass_context
def _demo(context: click.Context, args: tuple[str, ...]) -> None:
    """Train on the corpus shipped inside, label a sentence."""
    from ._demo import demo

    context.exit(demo(list(args)))


for _command in (train, tag, evaluate, inspect, completion):
    commands.add_command(_command)


def run(argv: list[str]) -> int:
    """Run a command; returns the exit code."""
    instruction = os.environ.get(VARIABLE)
    if instruction:  # the shell asks for completions
        return shell_complete(commands, {}, PROGRAM, VARIABLE, instruction)
    name = " ".join([PROGRAM, *(word for word in argv[:1] if word in commands.commands)])
    with _warnings_told(name):
        try:
            with commands.make_context(PROGRAM, list(argv)) as context:
                commands.invoke(context)
        except click.exceptions.Exit as end:
            return end.exit_code
        except click.ClickException as error:
            error.show()
            return error.exit_code
        except click.Abort:
            raise KeyboardInterrupt from None
        except BrokenPipeError:
            raise
        except (ValueError, OSError) as error:
            click.echo(f"{name}: {_text(error)}", err=True)
            return 2 if _is_call(error) else 1
    return 0


@contextlib.contextmanager
def _warnings_told(name: str) -> Iterator[None]:
    """Tell the first warning of each kind, and how many more there were, when all else is done."""
    first: dict[type, str] = {}
    counts: Counter[type] = Counter()

    def keep(message, category, *_, **__) -> None:
        first.setdefault(category, str(message))
        counts[category] += 1

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("always", UserWarning)
            warnings.showwarning = keep
            yield
    finally:
        for category, n in counts.items():
            more = f" (and {n - 1} more of this kind)" if n > 1 else ""
            click.echo(f"{name}: warning: {first[category]}{more}", err=True)


def _is_call(error: Exception) -> bool:
    """Whether it is an option that is wrong, and not a file."""
    from .._compat import InvalidParameterError
    from ..exceptions import ModelTooLargeError

    return isinstance(error, (InvalidParameterError, ModelTooLargeError))


#: What messages of the library advise, as options.
_OPTIONS = {"comments=True": "--comments", " (label=None reads tokens alone)": ""}


def _text(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename is not None else error.strerror
    text = str(error)
    for parameter, option in _OPTIONS.items():
        text = text.replace(parameter, option)
    return text

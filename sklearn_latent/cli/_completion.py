# SPDX-License-Identifier: BSD-3-Clause
"""``sklearn-latent completion``: the script that teaches a shell to complete the command."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

__all__ = ["PROGRAM", "VARIABLE", "completion"]

PROGRAM = "sklearn-latent"
#: Environment variable by which the shell asks for completions.
VARIABLE = "_SKLEARN_LATENT_COMPLETE"


@click.command(
    short_help="Print the completion script of a shell.",
    epilog="""
    \b
    Examples:
      sklearn-latent completion bash >> ~/.bashrc
      sklearn-latent completion zsh >> ~/.zshrc
      sklearn-latent completion fish > ~/.config/fish/completions/sklearn-latent.fish
    """,
)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Print the script that completes commands and options in a shell."""
    made = get_completion_class(shell)(context.find_root().command, {}, PROGRAM, VARIABLE)
    # Not `source()`, which for bash starts one to ask for its version: another shell may run this.
    click.echo(made.source_template % made.source_vars())

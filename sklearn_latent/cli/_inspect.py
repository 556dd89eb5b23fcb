# SPDX-License-Identifier: BSD-3-Clause
"""``sklearn-latent inspect``: what is in a model file."""

from __future__ import annotations

import json
from pathlib import Path

import click

from ._models import Model, model_option

__all__ = ["inspect"]


@click.command(
    short_help="Show what is in a model.",
    epilog="""
    \b
    Examples:
      sklearn-latent inspect --model chunker.zip
      sklearn-latent inspect --model chunker.zip --label B-NP --top 20
    """,
)
@model_option()
@click.option("--top", metavar="N", type=click.IntRange(0), default=5, show_default=True, help="Features of each.")
@click.option("--label", "chosen", metavar="LABEL", multiple=True, help="Only this label; may be repeated.")
@click.option("--json", "as_json", is_flag=True, help="The same as JSON.")
def inspect(path, top, chosen, as_json) -> None:
    """Show the labels of a model, their latent states, transitions, top features and sizes.

    The weight of a feature for a label is the mean over its states; a state shows what sets it apart from that mean.
    """
    from ._summary import summary, summary_text

    model = Model(path)
    labels = [str(label) for label in model.tagger.classes_.tolist()]
    for label in chosen:
        if label not in labels:
            raise click.UsageError(f"--label {label}: the labels are {', '.join(labels)}")
    shown = {"file": path, "bytes": Path(path).stat().st_size} | summary(model.tagger, top, chosen or labels)
    click.echo(json.dumps(shown, ensure_ascii=False, indent=1) if as_json else summary_text(shown), nl=as_json)

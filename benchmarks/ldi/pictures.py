# SPDX-License-Identifier: BSD-3-Clause
"""The paper's figures 2, 4 and 5, drawn from result files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from ..plots import draw
from ..rst import paragraph, title
from .results import Results
from .tasks import TASKS

__all__ = ["pictures"]


def pictures(results: Results, folder: Path, say: Callable[[str], None]) -> str:
    """Figures 2, 4 and 5, of models that were trained without the part that judges them."""
    devs = {}
    for corpus in TASKS:
        for name, run in results.of_model(corpus, "latent", dev=True).items():
            devs[corpus] = (run, results.folder / f"{name}.mass.npz")
    if not devs:
        return ""
    text = [
        title("Figures"),
        paragraph("Of the held-out part of the training data, which the models of these pictures were not trained on."),
    ]
    figures = {}
    masses = {corpus: _read_mass(path) for corpus, (_, path) in devs.items() if path.exists()}
    if masses:
        held = "; ".join(
            f"{TASKS[corpus].title}: {_share(mass, 1)} by the best one, {_share(mass, 30)} by 30, "
            f"{_share(mass, mass.shape[1])} by {mass.shape[1]:,}"
            for corpus, mass in masses.items()
        )
        figures["mass"] = (
            lambda figure: _draw_masses(figure, masses),
            f"""The paper's figure 2: probability of the most probable latent paths together. Mean over sentences:
            {held}.""",
        )
    for number, corpus in ((4, "bio"), (5, "np")):
        if corpus in devs:
            run = devs[corpus][0]
            figures[corpus] = (
                lambda figure, run=run: _draw_curve(figure, run),
                f"""The paper's figure {number}, {TASKS[corpus].title}: F1, share of the sentences proven, latent paths
                taken and seconds of decoding (scores made beforehand, {run["decoding"]["n_sentences"]:,} sentences)
                against the most latent paths that the published search may take; dashed, the exact search over label
                prefixes.""",
            )
    for name, (plot, words) in figures.items():
        path = folder / f"ldi-{name}.svg"
        drawn = draw(plot, path)
        if not drawn:
            say(f"{path.name}: matplotlib is not installed, not drawn")
        if drawn or path.exists():
            words = " ".join(words.split())
            text.append(f".. figure:: ../images/{path.name}\n   :alt: {words}\n\n   {words}\n")
    return "\n".join(text)


def _read_mass(path: Path) -> np.ndarray:
    with np.load(path, allow_pickle=False) as archive:
        return archive["mass"]


def _share(mass: np.ndarray, n: int) -> str:
    return f"{100 * float(mass[:, min(n, mass.shape[1]) - 1].mean()):.0f} %"


def _draw_masses(figure, masses: dict[str, np.ndarray]) -> None:
    from sklearn_latent.inspection import LatentMassDisplay

    axes = figure.subplots(1, len(masses), squeeze=False)[0]
    for ax, (corpus, mass) in zip(axes, masses.items(), strict=True):
        LatentMassDisplay(mass.astype(np.float64)).plot(ax=ax)
        ax.set_title(TASKS[corpus].title)
    for ax in axes[1:]:
        ax.get_legend().remove()  # the first one serves all, and there is no room


def _draw_curve(figure, run: dict) -> None:
    from sklearn_latent.inspection import DecoderCurveDisplay

    figure.set_size_inches(7.2, 5.0)
    points, decoders = run["decoding"]["settings"]["n_paths"], run["decoding"]["decoders"]
    found, exact = [decoders[f"ldi_approx_{n}"] for n in points], decoders["ldi_exact"]
    DecoderCurveDisplay(
        n_paths=points,
        score=[entry["f1"] for entry in found],
        exactitude=[entry["exactitude"] for entry in found],
        mean_paths=[entry["mean_paths"] for entry in found],
        seconds=[entry["seconds"] for entry in found],
        score_name="chunk F1",
        exact={"score": exact["f1"], "exactitude": exact["exactitude"], "seconds": exact["seconds"]},
    ).plot(axes=figure.subplots(2, 2))

# SPDX-License-Identifier: BSD-3-Clause
"""What tables and pictures read of a fitted estimator, and what they need besides."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .._taggers import LatentCRFTagger, SPNCRFTagger
from ..metrics._chunks import infer_scheme

__all__ = ["FittedTagger", "pandas", "token_texts"]


class FittedTagger:
    """A fitted tagger, alone or at the end of a pipeline.

    Attributes
    ----------
    tagger : LatentCRFTagger or SPNCRFTagger
    classes : list
    n_latent : ndarray of int of shape (n_classes,)
        Latent states of each label.
    state_labels : ndarray of int of shape (n_units,)
        Index into `classes` of each latent state; they are grouped by label.
    unit_of_state : ndarray of int of shape (n_states,)
        Latent state of each state of the chain.
    """

    def __init__(self, estimator):
        steps = getattr(estimator, "steps", None)
        self.tagger: Any = estimator if steps is None else steps[-1][1]
        self._before = None if steps is None else estimator[:-1]
        if not isinstance(self.tagger, (LatentCRFTagger, SPNCRFTagger)):
            raise TypeError(
                "estimator must be a LatentCRFTagger, an SPNCRFTagger or a Pipeline that ends in one, got "
                f"{type(self.tagger).__name__}"
            )
        check_is_fitted(self.tagger)
        self.classes: list = self.tagger.classes_.tolist()
        model, top = self.tagger._model, self.tagger._topology
        if isinstance(self.tagger, LatentCRFTagger):
            self.n_latent = np.diff(top.label_ptr)
            self.unit_of_state = np.arange(top.n_states)
        else:
            # States are label histories, a latent state of the label each; local normalisation has labels alone.
            self.n_latent = getattr(model, "n_latent", np.ones(len(self.classes), dtype=np.int64))
            first = np.cumsum(self.n_latent) - self.n_latent
            self.unit_of_state = first[top.state_label] + model.space.latent
        self.state_labels = np.repeat(np.arange(len(self.classes)), self.n_latent)

    @property
    def linear(self) -> bool:
        """Whether it is the linear tagger."""
        return isinstance(self.tagger, LatentCRFTagger)

    @property
    def scheme(self) -> str | None:
        """How the labels spell chunks; None if they don't."""
        if isinstance(self.tagger.constraints, str):
            return self.tagger.constraints
        if not all(isinstance(label, str) for label in self.classes):
            return None
        try:
            return infer_scheme(self.classes)
        except ValueError:  # labels of another kind
            return None

    def feature_names(self) -> np.ndarray:
        """Names of the features, or their columns where they have none."""
        names = getattr(self.tagger, "feature_names_in_", None)
        return np.arange(self.tagger.n_features_in_) if names is None else names

    def corpus(self, x):
        """One sequence as the tagger takes it: a corpus of one."""
        return [x] if self._before is None else self._before.transform([x])


def pandas():
    """Import pandas.

    Raises
    ------
    ImportError
        If pandas is not installed, with the command that installs it.
    """
    try:
        import pandas
    except ImportError as error:
        raise ImportError("tables are data frames of pandas, which is not installed: pip install pandas") from error
    return pandas


def token_texts(x, n_tokens: int) -> list[str] | None:
    """A word for each token of a sequence: itself, its first column, its first feature; None for rows of numbers."""
    if not isinstance(x, (list, tuple)) or len(x) != n_tokens:
        return None
    texts = []
    for token in x:
        if isinstance(token, Mapping):
            own = next((token[key] for key in ("word", "w", "form", "text", "token") if key in token), None)
            token = own if own is not None else next(iter(token.values()), "")
        elif isinstance(token, (list, tuple)):
            token = token[0] if token else ""
        if not isinstance(token, str):
            return None
        texts.append(token)
    return texts

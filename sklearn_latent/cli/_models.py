# SPDX-License-Identifier: BSD-3-Clause
"""Model files as the command uses them: a tagger and what it reads of a token."""

from __future__ import annotations

import click

__all__ = ["Model", "model_option"]

#: Parameters of taggers that prediction reads.
_PREDICTION = ("decoder", "n_paths", "alpha", "mbr_metric", "max_search", "beam_width", "n_jobs")


def model_option(required: bool = True):
    """The option that names a model file to read."""
    kind = click.Path(exists=True, dir_okay=False, readable=True)
    return click.option("-m", "--model", "path", type=kind, required=required, help="Model file, made by train.")


class Model:
    """A saved tagger, alone or behind transformers in a pipeline.

    Parameters
    ----------
    path : str

    Attributes
    ----------
    tagger : LatentCRFTagger or SPNCRFTagger
    vectorizer : TemplateVectorizer, other vectorizer, or None
        Fitted; what makes features of tokens.
    """

    def __init__(self, path: str):
        from ..io import load_model

        self.path = path
        estimator = load_model(path, mmap_mode="r")
        steps = getattr(estimator, "steps", [(None, estimator)])
        self._before = estimator[:-1] if len(steps) > 1 else None
        self.tagger = steps[-1][1]
        self.vectorizer = getattr(self.tagger, "vectorizer_", None) if self._before is None else steps[0][1]
        if not hasattr(self.tagger, "predict_nbest"):
            raise click.UsageError(f"{path} holds a {type(self.tagger).__name__}, which labels nothing")

    def reads(self) -> list[str]:
        """Names of the columns of a token, up to the last one that features are made of.

        Raises
        ------
        UsageError
            If the features are not made of columns.
        """
        from ..feature_extraction import SequenceUnion, TemplateVectorizer

        vectorizer = self.vectorizer
        parts = (
            [each for _, each in vectorizer.transformers_] if isinstance(vectorizer, SequenceUnion) else [vectorizer]
        )
        if not all(isinstance(each, TemplateVectorizer) for each in parts):
            made = "numbers" if vectorizer is None else type(vectorizer).__name__
            raise click.UsageError(
                f"the features of {self.path} are made of {made}, which columns of a file can't be; "
                "a model for the command has a TemplateVectorizer, as those of train have"
            )
        last = max((item.column for each in parts for t in each.templates_ for item in t.items), default=0)
        names = max((each.columns for each in parts), key=len)
        return list(names[: last + 1])

    def set(self, params: dict) -> None:
        """Set parameters that prediction reads.

        Raises
        ------
        UsageError
            If a parameter is none of these.
        """
        known = self.tagger.get_params(deep=False)
        for name in params:
            if name not in _PREDICTION or name not in known:
                allowed = ", ".join(name for name in _PREDICTION if name in known)
                raise click.UsageError(f"--set {name}: labelling reads {allowed}")
        self.tagger.set_params(**params)
        self.tagger._validate_params()

    def labels(self, tokens: list[list]) -> list[list]:
        """Labels of each sequence."""
        return self.tagger.predict(self.features(tokens))

    def features(self, tokens: list[list]):
        """What the tagger takes."""
        return tokens if self._before is None else self._before.transform(tokens)

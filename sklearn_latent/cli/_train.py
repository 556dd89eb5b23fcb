# SPDX-License-Identifier: BSD-3-Clause
"""``sklearn-latent train``: from labelled column files to a model file."""

from __future__ import annotations

import contextlib
import os
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import click

from ._corpus import LabelledCorpus, read_corpus
from ._evaluate import make_tally
from ._files import Layout, files_argument, layout_options
from ._grid import Trial, cross_validation_splits, search, trial_table
from ._progress import Progress, stoppable
from ._settings import Numbers, set_option

__all__ = ["train"]

#: Parameters that have options or ways of their own, or mean nothing for one training.
_NOT_SET = {
    "vectorizer": "--template makes it",
    "callback": "it is a function",
    "warm_start": "a training begins anew",
    "verbose": "--quiet shows less",
    "random_state": "--seed sets it",
    "n_jobs": "--jobs sets it",
}


class Plan(NamedTuple):
    """What to train: the tagger without its features, the templates, and values to choose from."""

    tagger: Any
    template: str | None
    columns: list[str] | None
    min_df: int
    grid: dict[str, list]


@click.command(
    short_help="Train a model on column files.",
    epilog="""
    \b
    Examples:
      sklearn-latent train train.txt --model chunker.zip
      sklearn-latent train train.txt.gz -m chunker.zip --template chunking --n-latent 2 --sigma 0.5
      sklearn-latent train a.txt b.txt -m ner.zip --template template.crfpp --constraints iob2
      sklearn-latent train train.txt -m best.zip --cv 3 --sigma 0.5,1,2 --n-latent 1,2
      sklearn-latent train train.txt -m spn.zip --tagger spn --set n_layers=0 --set order=2 --dev dev.txt
    """,
)
@files_argument
@click.option("-m", "--model", "path", type=click.Path(dir_okay=False), required=True, help="Model file to write.")
@click.option("--force", is_flag=True, help="Replace the model file if it is there.")
@click.option(
    "-t", "--template", metavar="PRESET|FILE",
    help="np-chunking (words), chunking (words, parts of speech), bio-ner (these and shapes), a CRF++ template file, "
    "or one template such as 'U:%x[0,0]'. Default: chunking where there are two columns beside the label, else "
    "np-chunking.",
)  # fmt: skip
@click.option("--columns", metavar="NAMES", help="Names of the columns beside the label. Default: word,pos,column2,...")
@click.option("--label", metavar="COLUMN", type=int, default=-1, help="Column of labels. Default: -1, the last.")
@click.option("--tagger", "kind", type=click.Choice(["latent", "spn"]), default="latent", show_default=True,
              help="LatentCRFTagger or SPNCRFTagger.")  # fmt: skip
@click.option("--n-latent", metavar="N,...", type=Numbers(int), help="Latent states of each label; 1: a plain CRF.")
@click.option("--sigma", metavar="S,...", type=Numbers(float), help="Standard deviation of the prior.")
@click.option("--constraints", type=click.Choice(["iob1", "iob2", "iobes", "bilou"]), help="Tags that may follow tags.")
@click.option("--solver", type=click.Choice(["lbfgs", "sgd", "adam", "adf"]), help="Optimiser.")
@click.option("--max-iter", metavar="N", type=click.IntRange(0), help="Iterations, or passes of a stochastic solver.")
@click.option("--min-df", metavar="N", type=click.IntRange(1), default=1, help="Features of fewer tokens are left out.")
@set_option("Any other parameter of the tagger, such as edge_features=True.")
@click.option("--seed", type=click.IntRange(0, 2**32 - 1), default=0, show_default=True, help="Seed of random starts.")
@click.option("--jobs", metavar="N", type=int, help="Threads; -1: all. The model is the same.")
@click.option("--cv", metavar="K", type=click.IntRange(2), help="Choose by K-fold cross-validation, then train on all.")
@click.option("--dev", type=click.Path(exists=True, dir_okay=False),
              help="File to score the model on; without --cv it also chooses.")  # fmt: skip
@click.option("-q", "--quiet", is_flag=True, help="No progress.")
@layout_options
def train(files, path, force, template, columns, label, kind, settings, seed, jobs, cv, dev, quiet, separator, comments,
          **options) -> None:  # fmt: skip
    """Train a model on labelled column files, or on the standard input.

    Several values of --sigma and --n-latent are tried out by --cv or on --dev, and a table shows their scores. Ctrl-C
    ends training with the model as it is by then.
    """
    _check_target(path, force)
    min_df = options.pop("min_df")
    options |= {"random_state": seed, "n_jobs": jobs}
    plan = _plan(kind, options, settings, template, columns, min_df)
    if plan.grid and cv is None and dev is None:
        raise click.UsageError("several values to choose from: how, by --cv K or on --dev FILE?")
    layout = Layout(separator, comments)
    scheme = plan.tagger.constraints if isinstance(plan.tagger.constraints, str) else None
    corpus = read_corpus(files, layout, label, scheme)
    dev_corpus = None if dev is None else read_corpus([dev], layout, label)
    if dev_corpus is not None and dev_corpus.width != corpus.width:
        raise ValueError(f"{dev}: {dev_corpus.width} columns beside the label, but training has {corpus.width}")
    tagger = plan.tagger.set_params(vectorizer=_vectorizer(plan, corpus))
    _tell(corpus, quiet)
    with _settings_judged(settings):
        if plan.grid or cv is not None:
            tagger.set_params(**_choose(tagger, corpus, dev_corpus, plan.grid, cv, quiet))
        stopped = _fit(tagger, corpus, path, quiet)
    if dev_corpus is not None:
        tally = make_tally(tokens=not dev_corpus.has_chunks)
        tally.add(dev_corpus.y, tagger.predict(dev_corpus.X))
        click.echo(f"\n{dev}:\n{tally.report()}", nl=False)
    if stopped:
        raise click.exceptions.Exit(130)


def _check_target(path: str, force: bool) -> None:
    """Refuse a model file that can't be written before there is one to lose."""
    folder = os.path.dirname(os.path.realpath(path))
    if os.path.exists(path) and not force:
        raise click.UsageError(f"{path} is there already; --force replaces it")
    if not os.path.isdir(folder):
        raise click.UsageError(f"--model {path}: there is no folder {folder}")
    # A new file takes the place of the old one, so that the folder is written to, too.
    if not os.access(folder, os.W_OK) or (os.path.exists(path) and not os.access(path, os.W_OK)):
        raise click.UsageError(f"--model {path} may not be written")


def _plan(kind: str, options: dict, settings: dict, template, columns: str | None, min_df: int) -> Plan:
    from .. import LatentCRFTagger, SPNCRFTagger

    tagger = {"latent": LatentCRFTagger, "spn": SPNCRFTagger}[kind]()
    params = {name: value for name, value in options.items() if value is not None}
    _check_settings(tagger, params, settings)
    lists = {name: params.pop(name) for name in ("sigma", "n_latent") if name in params}
    grid = {name: values for name, values in lists.items() if len(values) > 1}
    single = {name: values[0] for name, values in lists.items() if name not in grid}
    for trial in [params | single | settings, *({name: value} for name, values in grid.items() for value in values)]:
        tagger.set_params(**trial)
        tagger._validate_params()
    return Plan(tagger, _check_template(template), _names(columns), min_df, grid)


def _check_settings(tagger, params: dict, settings: dict) -> None:
    known = sorted(set(tagger.get_params(deep=False)) - set(_NOT_SET))
    for name in settings:
        if name in _NOT_SET:
            raise click.UsageError(f"--set {name}: {_NOT_SET[name]}")
        if name in params:
            raise click.UsageError(f"--set {name}: --{name.replace('_', '-')} sets it already")
        if name not in known:
            raise click.UsageError(f"--set {name}: the parameters of {type(tagger).__name__} are {', '.join(known)}")


def _check_template(template: str | None) -> str | None:
    from ..feature_extraction._template_parser import PRESETS

    if template is not None and template not in PRESETS and "%x" not in template and not os.path.isfile(template):
        raise click.UsageError(f"--template {template}: neither a file nor one of {', '.join(PRESETS)}")
    return template


def _names(columns: str | None) -> list[str] | None:
    names = None if columns is None else [name.strip() for name in columns.split(",")]
    if names is not None and (not all(names) or len(set(names)) < len(names)):
        raise click.UsageError(f"--columns {columns}: different names separated by commas are expected")
    return names


@contextlib.contextmanager
def _settings_judged(settings: dict) -> Iterator[None]:
    """Where training refuses a value of ``--set``, which such messages begin with, it is the call that is wrong."""
    try:
        yield
    except ValueError as error:
        if re.match(r"\w*", str(error))[0] in settings:
            raise click.UsageError(f"--set {error}") from None
        raise


def _vectorizer(plan: Plan, corpus: LabelledCorpus):
    from ..feature_extraction import TemplateVectorizer

    names = plan.columns
    if names is None:
        names = ["word", "pos", *(f"column{k}" for k in range(2, corpus.width))][: corpus.width]
    if len(names) > corpus.width:
        raise click.UsageError(f"--columns names {len(names)}, but there are {corpus.width} beside the label")
    template = plan.template or ("chunking" if len(names) > 1 else "np-chunking")
    return TemplateVectorizer(template, columns=names, min_df=plan.min_df)


def _tell(corpus: LabelledCorpus, quiet: bool) -> None:
    if not quiet:
        n_tokens, n_labels = sum(map(len, corpus.X)), len(set().union(*corpus.y))
        click.echo(f"{len(corpus.X):,} sequences, {n_tokens:,} tokens, {n_labels:,} labels", err=True)


def _choose(tagger, corpus: LabelledCorpus, dev: LabelledCorpus | None, grid, cv: int | None, quiet: bool) -> dict:
    """The best parameters, by cross-validation or on the development file, and the table of all."""
    from ..metrics import chunk_f1_scorer, token_accuracy_scorer

    X, y = corpus.X, corpus.y
    if cv is not None:
        splits = cross_validation_splits(cv, corpus.documents)
    else:
        n = len(X)
        X, y = X + dev.X, type(y)([*y, *dev.y])
        splits = [(list(range(n)), list(range(n, len(X))))]
    chunks = corpus.has_chunks
    grid = grid or {"sigma": [tagger.sigma]}
    trials: list[Trial] = []
    try:
        scorer = chunk_f1_scorer if chunks else token_accuracy_scorer
        search(tagger, X, y, grid, splits, scorer, trials, quiet)
    except KeyboardInterrupt:
        click.echo(
            "interrupted while choosing: no model has been trained on all of the data, none is written", err=True
        )
        if trials:
            click.echo(trial_table(trials, "chunk F1" if chunks else "accuracy"), nl=False)
        raise click.exceptions.Exit(130) from None
    click.echo(trial_table(trials, "chunk F1" if chunks else "accuracy"), nl=False)
    return max(trials, key=lambda trial: trial.mean).params


def _fit(tagger, corpus: LabelledCorpus, path: str, quiet: bool) -> bool:
    """Train and save; whether it was stopped before its end."""
    from ..io import save_model

    began = time.perf_counter()
    progress = Progress(tagger, quiet)
    with stoppable(progress), progress:
        tagger.set_params(callback=progress).fit(corpus.X, corpus.y)
        tagger.set_params(callback=None)
        save_model(tagger, path)
    size, seconds = Path(path).stat().st_size / 1e6, time.perf_counter() - began
    click.echo(
        f"{path}: {len(tagger.classes_)} labels, {len(tagger.state_labels_)} states, "
        f"{tagger.n_features_in_:,} features, {tagger.n_iter_} iterations, objective {tagger.objective_:.6g}, "
        f"{size:.1f} MB, {seconds:.1f} s"
    )
    if progress.stop:
        click.echo(
            f"stopped by Ctrl-C: {path} holds the best model so far, after {tagger.n_iter_} iterations", err=True
        )
    return progress.stop

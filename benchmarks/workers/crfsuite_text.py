# SPDX-License-Identifier: BSD-3-Clause
"""python-crfsuite from column files, attributes made in Python.

``python -m benchmarks.workers.crfsuite_text TASK FILE [key=value ...]``
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator

from .common import Clock, done, main, peak_mb

with Clock() as IMPORT:
    import pycrfsuite


def read(path: str) -> Iterator[list[list[str]]]:
    """Sentences of a column file, each a list of the columns of its tokens."""
    rows: list[list[str]] = []
    with open(path, encoding="utf-8") as file:
        for line in file:
            row = line.split()
            if row:
                rows.append(row)
            elif rows:
                yield rows
                rows = []
    if rows:
        yield rows


def attributes(rows: list[list[str]]) -> list[list[str]]:
    """The attributes of each token: what the preset ``"chunking"`` of `TemplateVectorizer` stands for."""
    n = len(rows)
    words, tags = [row[0] for row in rows], [row[1] for row in rows]
    out = []
    for t in range(n):
        window = range(max(-2, -t), min(3, n - t))
        found = [f"w[{d}]={words[t + d]}" for d in window]
        if t > 0:
            found.append(f"w[-1]|w[0]={words[t - 1]}|{words[t]}")
        if t < n - 1:
            found.append(f"w[0]|w[1]={words[t]}|{words[t + 1]}")
        found += [f"pos[{d}]={tags[t + d]}" for d in window]
        for d in window[:-1]:
            found.append(f"pos[{d}]|pos[{d + 1}]={tags[t + d]}|{tags[t + d + 1]}")
        for d in window[:-2]:
            found.append(f"pos[{d}]|pos[{d + 1}]|pos[{d + 2}]={tags[t + d]}|{tags[t + d + 1]}|{tags[t + d + 2]}")
        out.append(found)
    if n:
        out[0].append("__BOS__")
        out[-1].append("__EOS__")
    return out


def pipeline(path: str, model: str, max_iter=0) -> None:
    """Read a labelled file, make attributes, train (which saves)."""
    with Clock() as reading:
        sentences = list(read(path))
    trainer = pycrfsuite.Trainer(algorithm="lbfgs", verbose=False)
    params = {"c1": 0.0, "c2": 0.5}
    if int(max_iter):
        params["max_iterations"] = int(max_iter)
    trainer.set_params(params)
    with Clock() as append:
        for rows in sentences:
            trainer.append(attributes(rows), [row[-1] for row in rows])
    with Clock() as train:
        trainer.train(model)
    iterations = trainer.logparser.iterations
    done(
        threads=1,
        spent={"import": IMPORT.wall, "read": reading.wall, "features": append.wall, "training, save": train.wall},
        n_iter=len(iterations),
        objective=iterations[-1]["loss"],
    )


def vectorize(path: str, test: str, repeats=3) -> None:
    """Tokens a second of making attributes, alone and with appending them to a trainer."""
    sentences = list(read(path))
    n = sum(map(len, sentences))
    alone, append, cpu = [], [], []
    for _ in range(int(repeats)):
        with Clock() as clock:
            for rows in sentences:
                attributes(rows)
        alone.append(clock.wall)
        trainer = pycrfsuite.Trainer(verbose=False)
        with Clock() as clock:
            for rows in sentences:
                trainer.append(attributes(rows), [row[-1] for row in rows])
        append.append(clock.wall)
        cpu.append(clock.cpu)
        trainer.clear()
    peak = peak_mb()
    every = [attributes(rows) for rows in sentences]
    done(
        threads=1,
        rates={"attributes": n / statistics.median(alone), "attributes and append": n / statistics.median(append)},
        cpu=statistics.median(cpu),
        n_features=len({name for rows in every for row in rows for name in row}),
        n_entries=sum(len(row) for rows in every for row in rows),
        peak_mb=peak,
    )


def tag(model: str, source: str, target: str) -> None:
    """Label a column file, sentence by sentence."""
    with Clock() as opening:
        tagger = pycrfsuite.Tagger()
        tagger.open(model)
    with Clock() as clock, open(target, "w", encoding="utf-8") as file:
        for rows in read(source):
            labels = tagger.tag(attributes(rows))
            file.writelines(f"{' '.join(row)} {label}\n" for row, label in zip(rows, labels, strict=True))
            file.write("\n")
    done(threads=1, spent={"import": IMPORT.wall, "load": opening.wall, "read, tag, write": clock.wall})


if __name__ == "__main__":
    main({"pipeline": pipeline, "vectorize": vectorize, "tag": tag}, arrays=False)

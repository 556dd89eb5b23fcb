# SPDX-License-Identifier: BSD-3-Clause
"""Label a column file: ``python benchmarks/tag_file.py MODEL INPUT OUTPUT``; prints where the seconds went as JSON."""

import json
import sys
import time


def main(model: str, source: str, target: str) -> None:
    """Load, read, label, write."""
    times = [time.perf_counter()]
    from sklearn_latent.io import load_model, read_conll, write_conll

    times.append(time.perf_counter())
    tagger = load_model(model, mmap_mode="r")
    times.append(time.perf_counter())
    X = read_conll(source, label=None)
    times.append(time.perf_counter())
    y = tagger.predict(X)
    times.append(time.perf_counter())
    write_conll(target, X, y)
    times.append(time.perf_counter())
    names = ("import", "load", "read", "predict", "write")
    print(json.dumps(dict(zip(names, (b - a for a, b in zip(times, times[1:], strict=False)), strict=True))))


if __name__ == "__main__":
    main(*sys.argv[1:])

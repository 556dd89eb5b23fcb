# SPDX-License-Identifier: BSD-3-Clause
"""What an expert writes in PyTorch for a chain of sum-product networks.

One matrix product for all leaves, log-sum-exp over states, sums over products, a forward pass of scaled matrix products
over batches, automatic differentiation.

``python -m benchmarks.workers.torch_spn evaluation CORPUS gradient=FILE [key=value ...]``
"""

from __future__ import annotations

import numpy as np
import torch

from .common import Clock, done, main, peak_mb
from .torch_latent import _log_sum


def _batches(corpus: dict, tokens: int, kind: torch.dtype) -> list[dict]:
    """Sequences in the order of their lengths, as many together as have no more than `tokens` tokens.

    Rows of features are `tokens` in every batch (the rest are zeros): a compiled network is for one shape.
    """
    offsets, codes = corpus["offsets"], corpus["codes"].astype(np.int64)
    lengths, groups = np.diff(offsets), []
    for i in np.argsort(lengths, kind="stable").tolist():
        if not groups or lengths[groups[-1]].sum() + lengths[i] > tokens:
            groups.append([])
        groups[-1].append(i)
    batches = []
    for chosen in groups:
        width = int(lengths[chosen].max())
        rows = np.concatenate([np.arange(offsets[i], offsets[i + 1]) for i in chosen])
        place = np.concatenate([k * width + np.arange(lengths[i]) for k, i in enumerate(chosen)])
        X, label, mask = (
            np.zeros((tokens, corpus["pixels"].shape[1])),
            np.zeros((2, len(chosen) * width), dtype=int),
            None,
        )
        X[: len(rows)] = corpus["pixels"][rows]
        label[0, place], label[1, place] = codes[rows], 1
        label, mask = label.reshape(2, len(chosen), width)
        batches.append(
            {
                "X": torch.from_numpy(X).to(kind),
                "place": torch.from_numpy(place),
                "label": torch.from_numpy(label),
                "mask": torch.from_numpy(mask.astype(bool)),
            }
        )
    return batches


def _roots(X: torch.Tensor, coef: torch.Tensor, *bias: torch.Tensor, H: int, I: int, columns: bool) -> torch.Tensor:  # noqa: E741
    """Scores of the roots (tokens, labels); with `columns` tokens are innermost on the way."""
    across = 0 if columns else 1
    bias = tuple(b[:, None] for b in bias) if columns else bias
    score = torch.addmm(bias[-1], coef.T, X.T) if columns else torch.addmm(bias[-1], X, coef)
    for own in bias[-2::-1]:
        n = own.shape[0]
        states = score.view(H, I, n, -1) if columns else score.view(-1, H, I, n)
        # Faster than torch.logsumexp, and differentiated without its gather of maxima.
        top = states.detach().amax(across, keepdim=True)
        score = ((states - top).exp().sum(across).log() + top.squeeze(across)).sum(across) + own
    return score.T if columns else score


def evaluation(corpus: dict, gradient: str, dtype="float64", threads=1, batch=128, columns=0, compiled=0) -> None:
    """Seconds of one loss and gradient, after a few batches to warm up; the gradient goes into a file.

    Parameters are drawn, and lie in one vector, as ours: the weights of the leaves, biases from the roots to the
    leaves, bigrams that occur, start and end.
    """
    torch.set_num_threads(int(threads))
    kind, n_labels = getattr(torch, dtype), len(corpus["labels"])
    L, I, H = corpus["shape"].tolist()  # noqa: E741
    widths = [n_labels * (I * H) ** level for level in range(L + 1)]
    pairs = torch.from_numpy(corpus["bigrams"].astype(np.int64))
    sizes = [corpus["pixels"].shape[1] * widths[-1], *widths, len(pairs), n_labels, n_labels]
    flat = torch.from_numpy(np.random.default_rng(0).uniform(-0.1, 0.1, sum(sizes)))
    params = [torch.nn.Parameter(part.to(kind)) for part in flat.split(sizes)]
    coef, bias, (ngram, start, end) = params[0], params[1:-3], params[-3:]
    roots = torch.compile(_roots, dynamic=False) if int(compiled) else _roots
    batches = _batches(corpus, int(batch), kind)

    def evaluate(batches: list[dict]) -> float:
        for p in params:
            p.grad = None
        total = 0.0
        for b in batches:
            (rows, width), label, mask = b["mask"].shape, b["label"], b["mask"]
            score = roots(b["X"], coef.view(-1, widths[-1]), *bias, H=H, I=I, columns=bool(int(columns)))
            node = torch.zeros(rows * width, n_labels, dtype=kind)
            node = node.index_copy(0, b["place"], score[: len(b["place"])]).view(rows, width, n_labels)
            last = mask.sum(1) - 1
            first_last = torch.zeros(rows, width, n_labels, dtype=kind)
            first_last[:, 0] += start
            node = node + first_last.index_put((torch.arange(rows), last), end.expand(rows, -1), accumulate=True)
            arcs = torch.zeros(n_labels, n_labels, dtype=kind).index_put((pairs[:, 0], pairs[:, 1]), ngram)
            own = node.gather(2, label[:, :, None])[:, :, 0] * mask
            moves = arcs[label[:, :-1], label[:, 1:]] * mask[:, 1:]
            loss = _log_sum(node, mask, arcs.exp()).sum() - own.sum() - moves.sum()
            loss.backward()
            total += loss.item()
        with torch.no_grad():
            for p in params:
                total += 0.5 * float((p * p).sum())
                p.grad += p
        return total

    evaluate([batches[0], batches[-1]])
    with Clock() as clock:
        value = evaluate(batches)
    peak = peak_mb()
    np.save(gradient, np.concatenate([p.grad.numpy().astype(np.float64) for p in params]))
    done(
        seconds=clock.wall,
        cpu=clock.cpu,
        threads=int(threads),
        n_weights=len(flat),
        value=value,
        peak_mb=peak,
    )


if __name__ == "__main__":
    main({"evaluation": evaluation})

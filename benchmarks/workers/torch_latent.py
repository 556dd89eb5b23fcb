# SPDX-License-Identifier: BSD-3-Clause
"""What an expert writes in PyTorch: embedding bags, batches padded by length, a forward pass of scaled matrix products.

``python -m benchmarks.workers.torch_latent evaluation CORPUS [key=value ...]``
"""

from __future__ import annotations

import numpy as np
import torch

from .common import Clock, done, main, peak_mb


def _batches(corpus: dict, size: int) -> list[dict]:
    """Sequences sorted by length, padded to the longest of each batch."""
    offsets, ptr = corpus["train_offsets"], corpus["train_ptr"].astype(np.int64)
    indices, codes = corpus["train_indices"].astype(np.int64), corpus["train_codes"].astype(np.int64)
    lengths = np.diff(offsets)
    order = np.argsort(lengths, kind="stable")
    order = order[lengths[order] > 0]
    batches = []
    for k in range(0, len(order), size):
        chosen = order[k : k + size]
        width = int(lengths[chosen].max())
        tokens = np.concatenate([np.arange(offsets[i], offsets[i + 1]) for i in chosen])
        place = np.concatenate([row * width + np.arange(lengths[i]) for row, i in enumerate(chosen)])
        bags = np.diff(ptr)[tokens]
        values = np.concatenate([indices[ptr[t] : ptr[t + 1]] for t in tokens])
        label = np.zeros(len(chosen) * width, dtype=np.int64)
        label[place] = codes[tokens]
        mask = np.zeros(len(chosen) * width, dtype=bool)
        mask[place] = True
        batches.append(
            {
                "values": torch.from_numpy(values),
                "bags": torch.from_numpy(np.concatenate([[0], np.cumsum(bags)[:-1]])),
                "place": torch.from_numpy(place),
                "label": torch.from_numpy(label).reshape(len(chosen), width),
                "mask": torch.from_numpy(mask).reshape(len(chosen), width),
            }
        )
    return batches


def _log_sum(scores: torch.Tensor, mask: torch.Tensor, arcs: torch.Tensor) -> torch.Tensor:
    """Forward pass; each step is one matrix product of exponentials, shifted by the row's maximum."""
    alpha = scores[:, 0]
    for t in range(1, scores.shape[1]):
        top = alpha.max(1, keepdim=True).values.detach()
        step = torch.log(torch.exp(alpha - top) @ arcs) + top + scores[:, t]
        alpha = torch.where(mask[:, t, None], step, alpha)
    return torch.logsumexp(alpha, 1)


def evaluation(corpus: dict, n_latent=5, repeats=5, threads=1, batch=2048, dtype="float64") -> None:
    """Seconds of one loss and gradient by automatic differentiation."""
    torch.set_num_threads(int(threads))
    n_labels, h = len(corpus["labels"]), int(n_latent)
    kind = getattr(torch, dtype)
    torch.manual_seed(0)
    bag = torch.nn.EmbeddingBag(int(corpus["n_features"]), n_labels * h, mode="sum", dtype=kind)
    torch.nn.init.uniform_(bag.weight, -0.01, 0.01)
    transition = torch.nn.Parameter(torch.empty(n_labels * h, n_labels * h, dtype=kind).uniform_(-0.01, 0.01))
    owner = torch.arange(n_labels * h) // h
    batches = _batches(corpus, int(batch))
    params = [bag.weight, transition]

    def evaluate() -> float:
        for p in params:
            p.grad = None
        total, arcs = 0.0, None
        for b in batches:
            arcs = torch.exp(transition)
            rows, width = b["label"].shape
            scores = torch.zeros(rows * width, n_labels * h, dtype=kind)
            scores = scores.index_copy(0, b["place"], bag(b["values"], b["bags"])).reshape(rows, width, -1)
            held = scores.masked_fill(owner[None, None] != b["label"][:, :, None], -1e30)
            loss = (_log_sum(scores, b["mask"], arcs) - _log_sum(held, b["mask"], arcs)).sum()
            loss.backward()
            total += loss.item()
        with torch.no_grad():
            for p in params:
                total += 0.5 * float((p * p).sum())
                p.grad += p
        return total

    seconds, cpu = [], []
    evaluate()
    for _ in range(int(repeats)):
        with Clock() as clock:
            evaluate()
        seconds.append(clock.wall)
        cpu.append(clock.cpu)
    peak = peak_mb()
    with torch.no_grad():
        for p in params:
            p.zero_()
    zero = evaluate()
    with torch.no_grad():
        for p, function in ((bag.weight, torch.sin), (transition, torch.cos)):
            p.copy_(0.1 * function(torch.arange(p.numel(), dtype=kind)).reshape(p.shape))
    value = evaluate()
    done(
        seconds=float(np.median(seconds)),
        cpu=float(np.median(cpu)),
        threads=int(threads),
        n_weights=sum(p.numel() for p in params),
        value_at_zero=zero,
        value=value,
        gradient=float(np.sqrt(sum(float((p.grad**2).sum()) for p in params))),
        peak_mb=peak,
    )


if __name__ == "__main__":
    main({"evaluation": evaluation})

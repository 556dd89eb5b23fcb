"""Phone features by the formulas, frame by frame: no transform of scipy, no array indexing tricks."""

import numpy as np


def mirrored(audio, t):
    """Sample t of a recording that is mirrored at both ends."""
    n = len(audio)
    while not 0 <= t < n:
        t = -1 - t if t < 0 else 2 * n - 1 - t
    return audio[t]


def mfcc(audio, rate):
    length, hop = round(0.025 * rate), round(0.010 * rate)
    n_fft = 1
    while n_fft < length:
        n_fft *= 2
    dft = np.exp(-2j * np.pi * np.outer(np.arange(n_fft // 2), np.arange(length)) / n_fft)
    hamming = np.array([0.54 - 0.46 * np.cos(2 * np.pi * k / (length - 1)) for k in range(length)])
    lowest, highest = (1127 * np.log(1 + f / 700) for f in (20, rate / 2))
    step = (highest - lowest) / 24
    floor = 2.0**-23 / 32768**2
    rows = []
    for k in range(max(1, (len(audio) + hop // 2) // hop)):
        start = k * hop + hop // 2 - length // 2
        frame = np.array([mirrored(audio, start + t) for t in range(length)])
        frame = frame - frame.mean()
        energy = np.log(max(floor, sum(frame**2)))
        emphasised = [frame[t] - 0.97 * frame[max(0, t - 1)] for t in range(length)]
        power = abs(dft @ (emphasised * hamming)) ** 2
        log_mel = []
        for b in range(23):
            left, peak, right = (lowest + step * (b + c) for c in range(3))
            total = 0.0
            for j, p in enumerate(power):
                at = 1127 * np.log(1 + j * rate / n_fft / 700)
                if left < at < right:
                    total += p * ((at - left) if at <= peak else (right - at)) / step
            log_mel.append(np.log(max(floor, total)))
        row = []
        for c in range(1, 13):
            total = sum(m * np.cos(np.pi * c * (b + 0.5) / 23) for b, m in enumerate(log_mel))
            row.append(total * np.sqrt(2 / 23) * (1 + 11 * np.sin(np.pi * c / 22)))
        rows.append([*row, energy])
    return np.array(rows)


def slopes(frames):
    n, out = len(frames), np.zeros_like(frames)
    for k in range(n):
        for d in (1, 2):
            out[k] += d * (frames[min(n - 1, k + d)] - frames[max(0, k - d)]) / 10
    return out


def segments(audio, ranges, rate):
    static, hop = mfcc(audio, rate), round(0.010 * rate)
    delta = slopes(static)
    moving = np.hstack([delta, slopes(delta)])
    rows = []
    for start, stop in ranges:
        own = [k for k in range(len(static)) if start <= k * hop + hop // 2 < stop]
        if not own:
            own = [min(range(len(static)), key=lambda k: abs(k * hop + hop // 2 - (start + stop) / 2))]
        n = len(own)
        outer = max(1, int(np.ceil(0.3 * n - 0.5 - 1e-9)))
        parts = own[:outer], own[outer : n - outer] or [own[n // 2]], own[n - outer :]
        means = [static[part].mean(axis=0) for part in parts]
        rows.append([*np.concatenate(means), *moving[own[0]], *moving[own[-1]], np.log((stop - start) / rate)])
    return np.array(rows).reshape(len(rows), 92)

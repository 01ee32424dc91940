# SPDX-License-Identifier: Apache-2.0
"""`equipoise improve`: tonight's blueprint has the sizes that today's opponents bet and it lacked."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Annotated, ClassVar

import typer
from rich.table import Table

from equipoise.abstraction.blueprints import StoredBlueprint
from equipoise.abstraction.improvement import add_sizes, choose_sizes, count_sizes, score_gaps
from equipoise.apps.display import make_console
from equipoise.apps.shared_options import Json, OverwriteOut, Quiet, ResumeOut
from equipoise.apps.train_blueprint import TrainBlueprintOptions, train_spec
from equipoise.core.errors import ConfigError
from equipoise.games.holdem.hand_files import read_hands

__all__ = ["ImproveOptions", "improve"]

SHOWN_GAPS = 8


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class ImproveOptions:
    """What `equipoise improve` is told."""

    panels: ClassVar[dict[str, tuple[str, ...]]] = {
        "What is learnt from": ("log", "me", "defensive", "offensive"),
        "How long": ("hours", "deals", "threads", "gb", "seed"),
        "Where to keep it": ("out", "estimate", "resume", "overwrite", "json", "quiet"),
    }
    sample_commands: ClassVar[tuple[str, ...]] = (
        "equipoise improve mine/blueprint.eq --log hands.phh --me mine --estimate",
        "equipoise improve mine/blueprint.eq --log match.log --me mine --hours 1 -o tonight",
    )

    file: Annotated[Path, typer.Argument(help="A blueprint of `train blueprint`.")]
    log: Annotated[Path, typer.Option(help="Hands that were played: PHH, or a log of the ACPC.", metavar="FILE")]
    me: Annotated[list[str] | None, typer.Option(help="A name under which the blueprint played.", metavar="NAME")] = (
        None
    )
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder of the new blueprint.", metavar="DIR")] = Path(
        "improved"
    )
    defensive: Annotated[int, typer.Option(min=0, max=10, help="Sizes in the middle of the worst gaps.")] = 2
    offensive: Annotated[int, typer.Option(min=0, max=10, help="Sizes that opponents bet most.")] = 1
    hours: Annotated[float | None, typer.Option(min=0.0001, help="Training time.")] = None
    deals: Annotated[int | None, typer.Option(min=1, help="Stop after so many deals in place of a time.")] = None
    threads: Annotated[int | None, typer.Option("--threads", "-t", min=1, help="All processors by default.")] = None
    gb: Annotated[float | None, typer.Option(min=0.01, help="Most memory for tables, in gigabytes.")] = None
    seed: Annotated[int, typer.Option(min=0, help="Of deals.")] = 0
    estimate: Annotated[bool, typer.Option("--estimate", help="Say which sizes come and what it takes, and stop.")] = (
        False
    )
    resume: ResumeOut = False
    overwrite: OverwriteOut = False
    json: Json = False
    quiet: Quiet = False


def improve(options: ImproveOptions) -> None:
    """Train a blueprint anew with the sizes that opponents bet before the flop and it lacked.

    Gaps between its sizes are scored by how far bets fell between them; the worst get their middle, and the size that
    opponents bet most is added as it is.
    """
    console = make_console(is_quiet=options.quiet)
    spec = StoredBlueprint(options.file).spec
    hands = read_hands(options.log, spec.rules)
    names = {name for hand in hands for name in hand.names}
    me = set(options.me or ())
    if me - names:
        raise ConfigError(f"{options.log} has players {', '.join(sorted(names))}, got --me {sorted(me - names)[0]}")
    gaps = score_gaps(hands, spec, me)
    sizes = choose_sizes(gaps, count_sizes(hands, spec, me), defensive=options.defensive, offensive=options.offensive)
    if not sizes:
        raise ConfigError(
            f"in {len(hands):,} hands no opponent bet a size that {options.file} lacks: nothing to improve"
        )
    shown = Table(title=f"{len(hands):,} hands: gaps by score", title_justify="left")
    for name in ("raise", "from", "to", "score", "bets"):
        shown.add_column(name, justify="right")
    for gap in gaps[:SHOWN_GAPS]:
        shown.add_row(
            str(gap.raise_number + 1), f"{gap.below:.0%}", f"{gap.above:.0%}", f"{gap.score:.2f}", str(gap.num_bets)
        )
    console.print(shown)
    for new in sizes:
        why = "bet most" if new.is_offensive else "the middle of a gap"
        console.print(f"new: {new.size:.0%} of the pot as raise {new.raise_number + 1}, {why}")
    train_spec(
        add_sizes(spec, sizes),
        TrainBlueprintOptions(
            spec=str(options.file),
            out=options.out,
            hours=options.hours,
            deals=options.deals,
            threads=options.threads,
            gb=options.gb,
            prune="none",
            seed=options.seed,
            estimate=options.estimate,
            resume=options.resume,
            overwrite=options.overwrite,
            json=options.json,
            quiet=options.quiet,
        ),
    )

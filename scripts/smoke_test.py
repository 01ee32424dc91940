# SPDX-License-Identifier: Apache-2.0
"""Checks the Equipoise that an interpreter has installed: `PYTHON smoke_test.py`.

Needs nothing beside the package. Solves Leduc and a river, reads what is shipped, and compares the bits of every
family of solvers with tests/signature.txt. Of a portable wheel, each core that this processor runs does so, in a
process of its own, and must give the same bits.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parent.parent
SIGNATURE: Final = ROOT / "tests" / "signature.txt"
RIVER: Final = ROOT / "examples" / "spots" / "river.toml"
LICENSES: Final = {"LICENSE", "LICENSES/nanobind.txt"}
OWN: Final = "own"  # the only core of an installation that is not a portable wheel
COMMAND: Final = "from equipoise.apps.entry import main; main()"


def say(line: str) -> None:
    """Prints a line at once."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def expect(is_so: bool, what: str) -> None:
    """Ends with a message if something is not as it must be."""
    if not is_so:
        raise SystemExit(f"smoke test: {what}")


def check_solutions() -> None:
    """Solves a game and a spot as a new user would."""
    import equipoise  # noqa: PLC0415 - which core it loads is decided by then

    leduc = equipoise.solve("leduc", rule="cfr+", iterations=500)
    expect(abs(leduc.game_value + 0.0856) < 1e-3, f"Leduc is worth {leduc.game_value}, expected -0.0856")
    river = equipoise.solve(str(RIVER), iterations=300)
    pot = equipoise.load_spot(str(RIVER)).spot.pot
    expect(0 < river.exploitability < 0.005 * pot, f"the river's exploitability is {river.exploitability} of {pot}")
    say(f"  Leduc {leduc.game_value:.4f}, exploitability of the river {river.exploitability / pot:.3%} of the pot")


def check_shipped() -> None:
    """Reads every network that comes with the package, and looks for marker and licences."""
    import equipoise  # noqa: PLC0415 - see above
    from equipoise.learning.values.weights import StoredNet  # noqa: PLC0415 - see above

    package = Path(equipoise.__file__).parent
    networks = [StoredNet.load(path) for path in sorted((package / "weights").rglob("*.safetensors"))]
    expect(len(networks) > 0, f"no networks in {package / 'weights'}")
    expect((package / "games" / "holdem" / "pair_wins.eq").is_file(), "pair_wins.eq is missing")
    expect((package / "py.typed").is_file(), "py.typed is missing")
    say(f"  {len(networks)} networks")


def check_licenses() -> None:
    """Looks for the licences that an installed package must carry."""
    found = set(importlib.metadata.metadata("equipoise").get_all("License-File") or ())
    expect(found >= LICENSES, f"licences {sorted(found)}, expected {sorted(LICENSES)}")


def check_signature(threads: list[int]) -> None:
    """Compares the bits of results with the recorded ones, family by family."""
    from equipoise.apps.bench.signature import FAMILIES, sign_family  # noqa: PLC0415 - see above

    recorded = dict(line.split() for line in SIGNATURE.read_text().splitlines())
    expect(set(recorded) == {*FAMILIES, "signature"}, f"tests/signature.txt has {sorted(recorded)}")
    began = time.perf_counter()
    for family in FAMILIES:
        for num_threads in threads:
            found = sign_family(family, num_threads=num_threads)
            expected = recorded[family]
            expect(found == expected, f"{family} with {num_threads} threads is {found}, expected {expected}")
        say(f"  {family} {recorded[family]} after {time.perf_counter() - began:.0f} s")
    say(f"  signature {recorded['signature']} with {', '.join(map(str, threads))} threads")


def check_refusal(core: str, message: str) -> None:
    """Asks the command line for a core that it must refuse, in one line and with the code for bad input."""
    done = subprocess.run(
        [sys.executable, "-c", COMMAND, "games"],
        env={**os.environ, "EQUIPOISE_CORE": core},
        capture_output=True,
        text=True,
        check=False,
    )
    expect(done.returncode == 2 and message in done.stderr, f"EQUIPOISE_CORE={core} was not refused: {done}")
    expect(done.stderr.count("\n") == 1, f"the refusal of EQUIPOISE_CORE={core} is not one line: {done.stderr}")


def check_core(core: str, threads: list[int]) -> None:
    """Checks this process, which must have loaded this core."""
    from equipoise.kernels.cores import core_name  # noqa: PLC0415 - see above

    loaded = core_name() or OWN
    expect(loaded == core, f"the core {loaded} is loaded, expected {core}")
    say(f"core {core}")
    check_solutions()
    check_shipped()
    check_signature(threads)


def check_all(threads: list[int]) -> None:
    """Checks every core that there is and that this processor runs."""
    from equipoise.kernels.cores import CORES, core_name, find_level  # noqa: PLC0415 - see above

    if core_name() is None:
        check_core(OWN, threads)
        return
    given = ["--threads", *map(str, threads)]
    for core, level in CORES.items():
        if level > find_level():
            say(f"core {core} is not checked: this processor does not run it")
            check_refusal(core, f"needs a processor of level {level}")
            continue
        command = [sys.executable, __file__, "--core", core, *given]
        expect(subprocess.call(command, env={**os.environ, "EQUIPOISE_CORE": core}) == 0, f"the core {core} failed")
    check_refusal("x86-64-v9", "unknown core in EQUIPOISE_CORE 'x86-64-v9'")


def main() -> None:
    """Reads the options and checks."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--core", help=f"check the loaded core alone, which must be this one ({OWN}: the only one)")
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2, 3], help="of the runs that are signed")
    options = parser.parse_args()
    os.environ["EQUIPOISE_CACHE"] = "off"
    if options.core:
        check_core(options.core, options.threads)
    else:
        check_licenses()
        check_all(options.threads)


if __name__ == "__main__":
    main()

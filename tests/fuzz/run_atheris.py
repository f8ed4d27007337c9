"""Put very many inputs to a reader, led by the branches that they reach.

    python tests/fuzz/run_atheris.py [TARGET] [--inputs N] [--seed S]

Needs `atheris` (dependency group `fuzz`). Prints a JSON object for each target: inputs, seconds,
and the slowest input in milliseconds of CPU. At the first input that is not withstood a target ends
with a traceback, and the input is left in `crash-*` in the working folder.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import atheris

ROOT = Path(__file__).parents[2]
LONGEST = 4096
SECONDS = 1.0

sys.path.insert(0, str(ROOT))
with atheris.instrument_imports(include=["azd_eval", "yaml"]):
    from tests.fuzz.targets import TARGETS, Target


class Watch:
    """Counts inputs, keeps the slowest, and ends the process when there were enough."""

    def __init__(self, name: str, inputs: int) -> None:
        self._name = name
        self._wanted = inputs
        self._inputs = 0
        self._slowest = 0.0
        self._start = time.monotonic()

    def check(self, content: bytes) -> None:
        start = time.process_time()
        TARGETS[self._name].check(content)
        seconds = time.process_time() - start
        if seconds > SECONDS:
            raise TimeoutError(f"{seconds:.1f} s")
        self._slowest = max(self._slowest, seconds)
        self._inputs += 1
        if self._inputs == self._wanted:
            self._report()

    def _report(self) -> None:
        figures = {
            "target": self._name,
            "inputs": self._inputs,
            "seconds": round(time.monotonic() - self._start),
            "slowest_ms": round(self._slowest * 1000),
        }
        sys.stdout.write(json.dumps(figures) + "\n")
        sys.stdout.flush()
        # libFuzzer never returns.
        os._exit(0)


def write_corpus(target: Target, folder: Path) -> list[str]:
    """Write what to begin with; gives the arguments of libFuzzer that name it."""
    corpus = folder / "corpus"
    corpus.mkdir()
    for number, seed in enumerate(target.seeds):
        (corpus / str(number)).write_text(seed, encoding="utf-8", newline="")
    words = {word for word in target.words.split(" ") if word}
    lines = [f'"{_escape(word)}"' for word in sorted(words)]
    (folder / "words.dict").write_text("\n".join(lines), encoding="utf-8")
    return [f"-dict={folder / 'words.dict'}", str(corpus)]


def _escape(word: str) -> str:
    return "".join(f"\\x{byte:02x}" for byte in word.encode())


def main() -> None:
    """Fuzz one target, or each in a process of its own."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("target", nargs="?", choices=TARGETS)
    parser.add_argument("--inputs", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    if options.target is None:
        command = [sys.executable, __file__, *sys.argv[1:]]
        codes = [subprocess.run([*command, name], check=False).returncode for name in TARGETS]
        sys.exit(any(codes))
    with tempfile.TemporaryDirectory() as folder:
        corpus = write_corpus(TARGETS[options.target], Path(folder))
        artifacts = f"-artifact_prefix={Path.cwd()}/"
        os.chdir(folder)
        bounds = [f"-max_len={LONGEST}", f"-seed={options.seed}", "-rss_limit_mb=1024"]
        watch = Watch(options.target, options.inputs)
        atheris.Setup([sys.argv[0], artifacts, *bounds, "-verbosity=0", *corpus], watch.check)
        atheris.Fuzz()


if __name__ == "__main__":
    main()

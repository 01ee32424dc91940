# SPDX-License-Identifier: Apache-2.0
"""What the shipped page was built from: one hash over its sources, written into the page by `scripts/page`."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
WEB = ROOT / "web"
PAGE = ROOT / "src" / "equipoise" / "apps" / "web" / "page"
SINGLE = ("index.html", "package.json", "package-lock.json", "svelte.config.js", "tsconfig.json", "vite.config.ts")
MARK = re.compile(r'<meta name="equipoise-sources" content="([0-9a-f]+)" />')


def list_sources() -> list[Path]:
    """Returns every file that the build reads, in order of its path."""
    found = [path for path in (WEB / "src").rglob("*") if path.is_file()]
    return sorted([*found, *(WEB / name for name in SINGLE)], key=lambda path: path.relative_to(WEB).as_posix())


def hash_sources() -> str:
    """Returns a hash over the names and bytes of the sources."""
    digest = hashlib.sha256()
    for path in list_sources():
        content = path.read_bytes()
        digest.update(f"{path.relative_to(WEB).as_posix()} {len(content)}\n".encode())
        digest.update(content)
    return digest.hexdigest()


def read_mark() -> str | None:
    """Returns the hash that the shipped page carries; None if it has none."""
    found = MARK.search((PAGE / "index.html").read_text(encoding="utf8"))
    return found.group(1) if found else None


def write_mark() -> str:
    """Writes the hash of the sources into the built page and returns it."""
    index = PAGE / "index.html"
    found = hash_sources()
    text = MARK.sub("", index.read_text(encoding="utf8"))
    mark = f'<meta name="equipoise-sources" content="{found}" />'
    index.write_text(text.replace("</head>", f"  {mark}\n  </head>", 1), encoding="utf8")
    return found

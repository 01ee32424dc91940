# SPDX-License-Identifier: Apache-2.0
import subprocess

import equipoise
from equipoise.core import provenance


def test_version_is_the_package_s():
    assert provenance.version() == equipoise.__version__


def test_without_git_there_is_no_commit(monkeypatch):
    def fail(*_args, **_options):
        raise OSError("no git")

    monkeypatch.setattr(subprocess, "run", fail)
    provenance.find_commit.cache_clear()
    assert provenance.find_commit() is None
    provenance.find_commit.cache_clear()

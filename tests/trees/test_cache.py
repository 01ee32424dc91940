# SPDX-License-Identifier: Apache-2.0
import dataclasses
import os

import numpy as np
import pytest

from equipoise.core import cache as core_cache
from equipoise.core.cache import default_cache_directory
from equipoise.core.errors import GameTooLargeError
from equipoise.games.kuhn import Kuhn
from equipoise.games.leduc import Leduc
from equipoise.trees import cache, enumeration
from equipoise.trees.cache import load_or_build_history_tree, load_or_build_public_tree
from equipoise.trees.history import HistoryTree, build_history_tree
from equipoise.trees.public import PublicTree, build_public_tree


@pytest.fixture
def count_builds(monkeypatch):
    builds = []

    def build(game, **options):
        builds.append(game)
        return build_history_tree(game, **options)

    monkeypatch.setattr(cache, "build_history_tree", build)
    return builds


@pytest.fixture
def count_public_builds(monkeypatch):
    builds = []

    def build(game, **options):
        builds.append(game)
        return build_public_tree(game, **options)

    monkeypatch.setattr(cache, "build_public_tree", build)
    return builds


def load_public(directory, game=None, **options):
    return load_or_build_public_tree(game or Kuhn(), directory=directory, min_build_seconds=0.0, **options)


def assert_equal_parts(before, after):
    for field in dataclasses.fields(before):
        first, second = getattr(before, field.name), getattr(after, field.name)
        assert type(first) is type(second)
        assert getattr(first, "dtype", None) == getattr(second, "dtype", None)
        if not dataclasses.is_dataclass(first):
            assert np.array_equal(first, second) if isinstance(first, np.ndarray) else first == second


def load(directory, game=None, **options):
    return load_or_build_history_tree(game or Kuhn(), directory=directory, min_build_seconds=0.0, **options)


def test_a_tree_comes_back_as_it_was(tmp_path, count_builds):
    first, second = load(tmp_path), load(tmp_path)
    assert len(count_builds) == 1
    for field in dataclasses.fields(HistoryTree):
        before, after = getattr(first, field.name), getattr(second, field.name)
        np.testing.assert_array_equal(before, after)
        assert type(before) is type(after)
        assert getattr(before, "dtype", None) == getattr(after, "dtype", None)


def test_other_parameters_are_another_tree(tmp_path, count_builds):
    assert load(tmp_path).num_players == 2
    assert load(tmp_path, Kuhn(players=3)).num_players == 3
    assert len(count_builds) == 2


@pytest.mark.parametrize("change", ["TREE_FORMAT_VERSION", "game_version"])
def test_another_version_is_built_again(tmp_path, count_builds, monkeypatch, change):
    load(tmp_path)
    game = Kuhn()
    if change == "game_version":
        object.__setattr__(game, "spec", dataclasses.replace(game.spec, version=99))
    else:
        monkeypatch.setattr(cache, "TREE_FORMAT_VERSION", 99)
    load(tmp_path, game)
    assert len(count_builds) == 2


def test_fast_trees_are_not_kept(tmp_path):
    load_or_build_history_tree(Kuhn(), directory=tmp_path)
    assert os.listdir(tmp_path) == []


def test_a_broken_file_is_built_again_and_replaced(tmp_path, count_builds):
    load(tmp_path)
    (file,) = tmp_path.iterdir()
    whole = file.read_bytes()
    file.write_bytes(whole[:-1])
    assert load(tmp_path).num_players == 2
    assert len(count_builds) == 2
    assert file.read_bytes() == whole


def test_a_file_of_another_game_under_the_name_is_not_believed(tmp_path, count_builds):
    load(tmp_path)
    (file,) = tmp_path.iterdir()
    load(tmp_path, Kuhn(players=3))
    (other,) = set(tmp_path.iterdir()) - {file}
    file.write_bytes(other.read_bytes())
    assert load(tmp_path).num_players == 2
    assert len(count_builds) == 3


def test_an_unwritable_directory_is_no_error(tmp_path):
    (tmp_path / "file").touch()
    assert load(tmp_path / "file" / "below").num_players == 2


def test_the_limit_holds_for_cached_trees_too(tmp_path):
    load(tmp_path)
    with pytest.raises(GameTooLargeError):
        load(tmp_path, max_histories=20)


def test_games_from_elsewhere_are_not_kept(tmp_path):
    class Mine(Kuhn):
        pass

    load(tmp_path, Mine())
    assert os.listdir(tmp_path) == []


def test_the_oldest_files_make_room(tmp_path, monkeypatch):
    for age, players in enumerate((4, 3)):
        load(tmp_path, Kuhn(players=players))
        for file in tmp_path.iterdir():
            os.utime(file, (1000 + age, 1000 + age))
    monkeypatch.setattr(core_cache, "MAX_CACHE_BYTES", 1)
    load(tmp_path)
    assert len(os.listdir(tmp_path)) == 1


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({"EQUIPOISE_CACHE": "off"}, None),
        ({"EQUIPOISE_CACHE": "/somewhere"}, "/somewhere"),
        ({"XDG_CACHE_HOME": "/caches"}, "/caches/equipoise"),
        ({"HOME": "/home/me"}, "/home/me/.cache/equipoise"),
    ],
)
def test_where_trees_are_kept(monkeypatch, environment, expected):
    for name in ("EQUIPOISE_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    directory = default_cache_directory()
    assert (None if directory is None else str(directory)) == expected


@pytest.mark.parametrize("game", [Kuhn(), Leduc()], ids=lambda game: game.name)
def test_a_public_tree_comes_back_as_it_was(tmp_path, count_public_builds, game):
    first, second = load_public(tmp_path, game), load_public(tmp_path, game)
    assert len(count_public_builds) == 1
    assert isinstance(second, PublicTree)
    assert_equal_parts(first, second)
    assert_equal_parts(first.cells, second.cells)
    assert_equal_parts(first.terminals, second.terminals)


@pytest.mark.parametrize("name", ["PUBLIC_TREE_FORMAT_VERSION", "TREE_FORMAT_VERSION"])
def test_each_form_has_its_own_version(tmp_path, count_builds, count_public_builds, monkeypatch, name):
    load(tmp_path)
    load_public(tmp_path)
    monkeypatch.setattr(cache, name, 99)
    load(tmp_path)
    load_public(tmp_path)
    is_history = name == "TREE_FORMAT_VERSION"
    assert (len(count_builds), len(count_public_builds)) == (1 + is_history, 2 - is_history)


def test_a_broken_public_tree_is_built_again(tmp_path, count_public_builds):
    load_public(tmp_path)
    (file,) = tmp_path.iterdir()
    file.write_bytes(file.read_bytes()[:-1])
    assert load_public(tmp_path).num_histories == 58
    assert len(count_public_builds) == 2


def test_the_limit_holds_for_cached_public_trees_too(tmp_path):
    load_public(tmp_path)
    with pytest.raises(GameTooLargeError, match="more than 57 histories"):
        load_public(tmp_path, max_histories=57)


def test_fast_public_trees_and_games_from_elsewhere_are_not_kept(tmp_path):
    class Mine(Kuhn):
        pass

    load_or_build_public_tree(Kuhn(), directory=tmp_path)
    load_public(tmp_path, Mine())
    assert os.listdir(tmp_path) == []


def test_progress_of_a_public_tree_rises_to_one(tmp_path, monkeypatch):
    monkeypatch.setattr(enumeration, "PROGRESS_EVERY", 1000)
    seen = []
    load_public(tmp_path, Leduc(), on_progress=lambda *record: seen.append(record))
    assert [count for count, _ in seen] == sorted(count for count, _ in seen)
    assert [fraction for _, fraction in seen] == sorted(fraction for _, fraction in seen)
    assert seen[0][0] == 1000
    assert seen[-1] == (9457, 1.0)

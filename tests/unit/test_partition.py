"""Who holds which images: the Dirichlet partitions and their file."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from outagefl.datasets import arrays
from outagefl.errors import DataError, InputError
from outagefl.inputs import partitions
from outagefl.inputs.partition import dirichlet_common_test
from outagefl.inputs.partition.dirichlet import split
from outagefl.inputs.partitions import Partition, label_counts


def labels(*sizes):
    """Labels of a data set with so many images of class 0, 1, …"""
    return np.repeat(np.arange(len(sizes)), sizes)


def data_of(y_train, y_test):
    """A data set with these labels, whose images are blank."""
    x_train, x_test = (np.zeros((len(y), 1, 1, 1), np.uint8) for y in (y_train, y_test))
    return arrays.ImageData(x_train, y_train, x_test, y_test, classes=(), mean=(), std=(), note="")


def draw(y_train, y_test, clients, seed=0, *, alpha=0.3, test_images=10):
    rng = np.random.default_rng(seed)
    return split(data_of(y_train, y_test), clients, rng, alpha=alpha, test_images=test_images)


@st.composite
def problems(choose):
    """Labels with classes of very unequal size (some absent), clients up to the number of images, any sane alpha."""
    sizes = choose(st.lists(st.sampled_from([0, 1, 2, 7, 40, 300]), min_size=1, max_size=12).filter(any))
    test_sizes = [choose(st.sampled_from([1, 2, 5, 60])) for _ in sizes]
    shuffle = np.random.default_rng(choose(st.integers(0, 99))).permutation
    return {
        "y_train": shuffle(labels(*sizes)),
        "y_test": shuffle(labels(*test_sizes)),
        "clients": choose(st.integers(1, min(1000, sum(sizes)))),
        "seed": choose(st.integers(0, 99)),
        "alpha": 10 ** choose(st.floats(-2, 6)),
        "test_images": choose(st.sampled_from([1, 3, 20, 500])),
    }


@given(problems())
def test_every_training_image_goes_to_exactly_one_client_and_nobody_is_left_empty(problem):
    partition = draw(**problem)
    assert len(partition.train) == problem["clients"]
    assert min(len(own) for own in partition.train) >= 1
    assert np.array_equal(np.sort(np.concatenate(partition.train)), np.arange(len(problem["y_train"])))


@given(problems())
def test_test_splits_are_as_large_as_can_be_without_repeats_and_only_of_own_classes(problem):
    partition = draw(**problem)
    supply = np.bincount(problem["y_test"])
    for train, test in zip(partition.train, partition.test, strict=True):
        classes = np.unique(problem["y_train"][train])
        assert len(np.unique(test)) == len(test) == min(problem["test_images"], supply[classes].sum())
        assert np.isin(problem["y_test"][test], classes).all()


@given(problems())
def test_test_splits_mirror_the_training_labels_within_rounding(problem):
    classes = int(problem["y_train"].max()) + 1
    problem["y_test"] = labels(*[problem["test_images"]] * classes)  # enough of every class for every client
    partition = draw(**problem)
    held = label_counts(partition.train, problem["y_train"], classes)
    mirrored = label_counts(partition.test, problem["y_test"], classes)
    exact = problem["test_images"] * held / held.sum(axis=1, keepdims=True)
    assert np.abs(mirrored - exact).max() < 1


@settings(max_examples=10)
@given(problems())
def test_a_seed_determines_the_partition_whatever_the_size_of_the_test_splits(problem):
    first, again = draw(**problem), draw(**problem)
    other = draw(**{**problem, "test_images": problem["test_images"] + 1})
    for split_a, split_b in ((first.train, again.train), (first.test, again.test), (first.train, other.train)):
        assert all(np.array_equal(a, b) for a, b in zip(split_a, split_b, strict=True))


def test_a_seed_gives_the_partition_it_always_gave():
    partition = draw(labels(6, 4), labels(5, 5), 3, seed=0, test_images=3)
    assert [own.tolist() for own in partition.train] == [[0, 2, 3, 4], [1, 5, 6], [7, 8, 9]]
    assert [own.tolist() for own in partition.test] == [[1, 3, 4], [3, 4, 8], [7, 8, 9]]


def test_another_seed_gives_another_partition():
    y = labels(100, 100, 100)
    assert not np.array_equal(draw(y, y, 3, seed=0).train[0], draw(y, y, 3, seed=1).train[0])


def test_a_class_is_split_in_proportion_to_the_clients_mixes():
    sizes, clients, alpha = [5000, 3000, 2000, 1000], 10, 0.5
    partition = draw(labels(*sizes), labels(10, 10, 10, 10), clients, seed=4, alpha=alpha)
    mixes = np.random.default_rng(4).dirichlet(np.full(4, alpha), size=clients)  # the generator's first draw
    held = label_counts(partition.train, labels(*sizes), 4)
    assert np.abs(held - sizes * mixes / mixes.sum(axis=0)).max() <= 1
    assert np.array_equal(partition.mix, mixes)
    assert np.array_equal(partition.held, held)


@pytest.mark.parametrize("clients", [7, 1000])
def test_a_large_alpha_gives_equal_clients_and_a_small_one_specialists(clients):
    y = labels(*[2000] * 10)
    equal = label_counts(draw(y, y, clients, alpha=1e6).train, y, 10)
    assert np.abs(equal - 2000 / clients).max() <= 2
    skewed = label_counts(draw(y, y, clients, alpha=0.01).train, y, 10)
    assert (skewed == 0).mean() > 0.75


def test_equal_clients_stay_equal_where_a_class_has_fewer_images_than_there_are_clients():
    y = labels(*[100] * 10)  # each client's due is 0.1 image of each class, one in all
    sizes = [len(own) for own in draw(y, y, 1000, alpha=1e6).train]
    assert sizes == [1] * 1000
    sizes = [len(own) for own in draw(y, y, 200, alpha=1e6).train]  # half an image of each class, five in all
    assert max(sizes) <= 10


@pytest.mark.parametrize("alpha", [1e-320, 1e-5, 1e-2, 1e6, 1e300, 1.7e308])
def test_extreme_alphas_neither_fail_nor_lose_images(alpha):
    y = labels(50, 0, 3, 1)
    partition = draw(y, labels(5, 5, 5, 5), 20, alpha=alpha)
    assert np.array_equal(np.sort(np.concatenate(partition.train)), np.arange(54))
    assert min(len(own) for own in partition.train) >= 1


def test_a_class_no_client_asks_for_is_split_evenly():
    partition = draw(labels(40, 40), labels(1, 1), 4, alpha=1.7e308)  # the mixes underflow to zero
    assert np.array_equal(label_counts(partition.train, labels(40, 40), 2), np.full((4, 2), 10))


def test_a_class_whose_test_images_run_out_leaves_the_rest_to_the_others_in_proportion():
    partition = draw(labels(6, 3, 1), labels(2, 10, 10), 1, test_images=10)
    assert label_counts(partition.test, labels(2, 10, 10), 3).tolist() == [[2, 6, 2]]
    partition = draw(labels(6, 3, 1), labels(2, 4, 10), 1, test_images=10)
    assert label_counts(partition.test, labels(2, 4, 10), 3).tolist() == [[2, 4, 4]]
    partition = draw(labels(6, 3, 1), labels(0, 4, 10), 1, test_images=10)
    assert label_counts(partition.test, labels(0, 4, 10), 3).tolist() == [[0, 4, 6]]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"alpha": 0}, "partition.alpha: 0 is not a finite number above 0"),
        ({"alpha": -0.3}, "partition.alpha: -0.3"),
        ({"alpha": float("nan")}, "partition.alpha: nan"),
        ({"alpha": float("inf")}, "partition.alpha: inf"),
        ({"alpha": "1e6"}, "partition.alpha: '1e6'"),
        ({"alpha": True}, "partition.alpha: True"),
        ({"test_images": 0}, "partition.test_images: 0 is not a whole number of at least 1"),
        ({"test_images": 2.5}, "partition.test_images: 2.5"),
        ({"clients": 7}, "clients: 7 is more than the 6 training images"),
        ({"y_test": labels()}, "no test images"),
        ({"y_test": labels(4, 0)}, r"client 0 holds classes \[1\], which have no test image"),
    ],
)
def test_what_cannot_be_split_is_refused_by_name(options, message):
    asked = {"y_train": labels(0, 6), "y_test": labels(1, 1), "clients": 2, **options}
    with pytest.raises(InputError, match=message):
        draw(**asked)


# --- All test images in common, and groups of classes ---


def draw_common(y_train, y_test, clients, seed=0, *, alpha=0.3, **options):
    rng = np.random.default_rng(seed)
    return dirichlet_common_test.split(data_of(y_train, y_test), clients, rng, alpha=alpha, **options)


def test_with_a_common_test_set_training_images_are_split_as_before():
    y_train, y_test = labels(70, 20, 40), labels(9, 9, 9)
    mirrored, common = draw(y_train, y_test, 8, seed=3), draw_common(y_train, y_test, 8, seed=3)
    assert all(np.array_equal(a, b) for a, b in zip(mirrored.train, common.train, strict=True))
    assert [len(own) for own in common.test] == [0] * 8


@pytest.mark.parametrize("alpha", [1e-320, 0.1, 100, 1.7e308])
@pytest.mark.parametrize(("classes", "clients", "groups"), [(10, 100, 2), (7, 10, 3), (4, 4, 4)])
def test_groups_hold_all_images_of_their_classes_and_no_others(alpha, classes, clients, groups):
    y = labels(*range(30, 30 + classes))
    partition = draw_common(y, y, clients, alpha=alpha, class_groups=groups)
    assert np.array_equal(np.sort(np.concatenate(partition.train)), np.arange(len(y)))
    assert min(len(own) for own in partition.train) >= 1
    assert np.array_equal(partition.held, label_counts(partition.train, y, classes))
    members, theirs = (np.arange(n) * groups // n for n in (clients, classes))
    foreign = members[:, None] != theirs
    assert not partition.held[foreign].any()
    assert not partition.mix[foreign].any()
    if alpha == 100:
        assert partition.mix.sum(axis=1).tolist() == pytest.approx([1] * clients)
        assert (partition.mix > 0).sum() == (~foreign).sum()


def test_the_papers_two_groups_are_halves():
    y = labels(*[500] * 10)
    held = draw_common(y, y, 100, alpha=0.1, class_groups=2).held
    assert not held[:50, 5:].any()
    assert not held[50:, :5].any()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"class_groups": 0}, "partition.class_groups: 0 is not a whole number from 1 to 2"),
        ({"class_groups": 3}, "partition.class_groups: 3"),
        ({"class_groups": 1.5}, "partition.class_groups: 1.5"),
        ({"class_groups": 2, "clients": 6}, "clients: 3 of group 1 is more than the 2 training images"),
        ({"alpha": 0}, "partition.alpha: 0"),
    ],
)
def test_groups_that_cannot_be_are_refused_by_name(options, message):
    asked = {"y_train": labels(9, 2), "y_test": labels(1, 1), "clients": 4, **options}
    with pytest.raises(InputError, match=message):
        draw_common(**asked)


# --- Files ---


@pytest.fixture
def stored(tmp_path):
    """A partition and the file it is saved in."""
    partition = draw(labels(30, 20), labels(5, 5), 6)
    partitions.save(tmp_path / "partition.npz", partition)
    return partition, tmp_path / "partition.npz"


def test_a_saved_partition_comes_back_as_it_was(stored):
    partition, path = stored
    back = partitions.load(path)
    for saved, loaded in ((partition.train, back.train), (partition.test, back.test)):
        assert all(np.array_equal(a, b) and b.dtype == np.int64 for a, b in zip(saved, loaded, strict=True))
    assert np.array_equal(partition.mix, back.mix)
    assert np.array_equal(partition.held, back.held)


def test_a_partition_without_label_mixes_or_test_images_comes_back_as_it_was(tmp_path):
    nothing = np.zeros(0, np.int64)
    partitions.save(tmp_path / "plain.npz", Partition((np.arange(2), np.arange(3)), (nothing, nothing)))
    back = partitions.load(tmp_path / "plain.npz")
    assert [own.tolist() for own in (*back.train, *back.test)] == [[0, 1], [0, 1, 2], [], []]
    assert back.mix is back.held is back.realised_mix() is None


def test_equal_partitions_are_equal_files(stored):
    partition, path = stored
    partitions.save(path.parent / "again.npz", partition)
    assert path.read_bytes() == (path.parent / "again.npz").read_bytes()


def test_a_partition_is_made_from_a_prepared_data_set_and_its_spec(tmp_path):
    images = np.zeros((40, 2, 2, 1), np.uint8)
    images[::2] = 255
    train, test = (images, labels(20, 20)), (images[:10], labels(5, 5))
    arrays.save(tmp_path / "data", "toy", train, test, classes=["a", "b"])
    spec = {"partition": {"kind": "dirichlet", "alpha": 1.0, "test_images": 3}, "clients": 4, "seed": 5}
    for name, seed in (("a", 5), ("b", 5), ("c", 6)):
        partitions.create({**spec, "seed": seed}, {"dataset": tmp_path / "data"}, tmp_path / f"{name}.npz")
    assert [len(own) for own in partitions.load(tmp_path / "a.npz").test] == [3] * 4
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()
    assert (tmp_path / "a.npz").read_bytes() != (tmp_path / "c.npz").read_bytes()


def test_a_missing_cut_or_foreign_file_is_a_data_error_that_names_it(stored, tmp_path):
    _, path = stored
    content = path.read_bytes()
    foreign = {
        "cut.npz": content[: len(content) // 2],
        "empty.npz": b"",
        "text.npz": b"not an archive",
        "flipped.npz": content.replace(content[100:140], bytes(40)),
    }
    for name, damaged in foreign.items():
        (tmp_path / name).write_bytes(damaged)
    np.save(tmp_path / "plain.npy", np.arange(3))
    np.savez(tmp_path / "graph.npz", edges=np.arange(3))
    for name in (*foreign, "plain.npy", "graph.npz", "absent.npz"):
        with pytest.raises(DataError, match=name):
            partitions.load(tmp_path / name)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"train_ends": np.array([2, 1, 5])}, "do not divide its 5 indices"),
        ({"train_ends": np.array([1, 2, 4])}, "do not divide its 5 indices"),
        ({"train_ends": np.array([], np.int64)}, "64-bit integers"),
        ({"train": np.arange(5.0)}, "64-bit integers"),
        ({"train": np.array([{}], object)}, "expected an archive"),
        ({"test_ends": np.array([1, 2])}, "training images of 3 clients, test images of 2"),
        ({"mix": np.ones((2, 1))}, "expected mix as float64 of 3 clients by classes"),
        ({"held": np.ones((3, 1))}, "expected held as int64 of 3 clients by classes"),
    ],
)
def test_an_inconsistent_partition_is_a_data_error(change, message, tmp_path):
    good = {"train": np.arange(5), "train_ends": np.array([1, 2, 5]), "test": np.arange(2)}
    good |= {"test_ends": np.array([1, 1, 2]), "mix": np.ones((3, 1)), "held": np.array([[1], [1], [3]])}
    np.savez(tmp_path / "odd.npz", **{**good, **change})
    with pytest.raises(DataError, match=f"odd.npz: .*{message}"):
        partitions.load(tmp_path / "odd.npz")


def test_label_counts_count_every_class_of_every_client():
    partition = Partition((np.array([0, 1, 4]), np.array([2])), (np.array([0]), np.array([1])))
    assert label_counts(partition.train, np.array([1, 1, 0, 0, 2]), 4).tolist() == [[0, 2, 1, 0], [1, 0, 0, 0]]

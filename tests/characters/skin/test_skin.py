"""Skins: linear blend skinning against a loop over vertices; bad skins are refused."""

import numpy as np
import pytest
from support import skins

from cylcollide.characters.skin import Skin


def three_bones(rng):
    points, faces = skins.cylinder([0, 0, 0], [0, 0, 1.2], 0.1, sides=12, rings=8)
    turns = rng.normal(size=(3, 4))
    return skins.arguments(
        (points, faces),
        rng.uniform(0, 1, (len(points), 3)),
        ("a", "b", "c"),
        (-1, 0, 1),
        rng.normal(size=(3, 3)),
        turns,
    )


def test_posed_vertices_are_blends_of_bone_transforms():
    rng = np.random.default_rng(2)
    given = three_bones(rng)
    skin = Skin(**given)
    rest = skins.rest_matrices(given)
    positions, turns = rng.normal(size=(3, 3)), rng.normal(size=(3, 4))
    moved = skin.posed(positions, turns)
    for vertex in range(0, len(moved), 7):
        point = np.append(given["vertices"][vertex], 1.0)
        shares = given["weights"][vertex] / given["weights"][vertex].sum()
        expected = sum(
            share * skins.matrix(p, q) @ np.linalg.inv(r) @ point
            for share, p, q, r in zip(shares, positions, turns, rest, strict=True)
        )
        np.testing.assert_allclose(moved[vertex], expected[:3], atol=1e-12)


def test_at_rest_vertices_stay():
    skin = Skin(**three_bones(np.random.default_rng(3)))
    np.testing.assert_allclose(skin.posed(*skin._rest), skin.vertices, atol=1e-14)
    assert repr(skin) == "Skin(300 vertices, 576 triangles, 3 bones)"


def set_row(name, row, value):
    def change(given):
        given[name] = np.array(given[name], dtype=float)
        given[name][row] = value

    return change


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (set_row("vertices", 5, np.nan), "vertices: expected finite.*row 5"),
        (
            set_row("weights", 5, 0.0),
            r"weights: expected none negative and a sum > 0, got 0.0 and the sum 0.0 in row 5",
        ),
        (set_row("weights", 5, [-0.1, 1, 1]), "weights: expected none negative.*row 5"),
        (set_row("weights", 5, np.inf), "weights: expected finite.*row 5"),
        (lambda g: g.update(weights=g["weights"][:, :2]), r"weights: expected shape \(300, 3\), a row per vertex"),
        (lambda g: g.update(faces=[[0, 1, 2, 3]]), r"faces: expected triangles of shape \(f, 3\), got \(1, 4\)"),
        (lambda g: g.update(faces=[[0, 1, 300]]), r"faces.*expected 0 to 299, got 300 in row 2"),
        (lambda g: g.update(faces=[[0, 1, -1]]), r"faces.*expected 0 to 299, got -1"),
        (lambda g: g.update(faces=[]), r"faces: expected triangles"),
        (lambda g: g.update(faces=[[0.0, 1.0, 2.0]]), "faces.*expected integers"),
        (lambda g: g.update(parents=[-1, 2, 0]), "parents: expected"),
        (lambda g: g.update(bone_names="abc"), "bone_names: expected a list of .* strings .*, got str"),
        (lambda g: g.update(bone_names=np.array([b"a", b"b", b"c"])), "bone_names: expected .* strings .*, got b'a'"),
        (lambda g: g.update(rest_orientations=np.zeros((3, 4))), "rest_orientations: expected a quaternion other"),
    ],
)
def test_bad_skins_are_refused(change, message):
    given = three_bones(np.random.default_rng(3))
    Skin(**given)
    change(given)
    with pytest.raises(ValueError, match=message):
        Skin(**given)

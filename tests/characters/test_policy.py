"""Policies as data: their fields, JSON, names of hit groups."""

import json
from fractions import Fraction
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.copies import COPIES

import cylcollide as cc

P = cc.Policy
EVERY = {
    "first surface": P.first_surface(),
    "by number": P.first_surface({1: 4, -7: 0.5}, default=2.0),
    "important": P.most_important(["head", 2, "arm"], {"head": 4.0}, groups={"head": 1, "arm": 9}),
    "longest": P.longest_chord({"default": 0.0, "leg": 0.3}),
    "penetration": P.penetration({"head": 900, 2: 1e-3, "default": 100}, {"head": 4}, default=0.25, groups={"head": 1}),
    "one loss": P.penetration(250),
    "nothing is lost": P.penetration({}),
}


@pytest.mark.parametrize("which", EVERY)
def test_round_trips(which: str, tmp_path: Path):
    policy = EVERY[which]
    policy.save(tmp_path / "policy.json")
    others = [P.from_json(policy.to_json()), P.load(tmp_path / "policy.json")]
    others.append(eval(repr(policy), {"Policy": P}))
    for other in (*others, *(copied(policy) for copied in COPIES.values())):
        assert other == policy
        assert hash(other) == hash(policy)
        assert (other.kind, other.order, dict(other.damage), dict(other.loss)) == (
            policy.kind, policy.order, dict(policy.damage), dict(policy.loss))  # fmt: skip
        assert [type(group) for group in other.damage] == [type(group) for group in policy.damage]
    assert len({*EVERY.values()}) == len(EVERY)
    assert policy != which


def test_tables_in_another_order_are_the_same_policy():
    one = P.penetration({1: 2.0, 3: 4.0}, {1: 0.5, 2: 0.0}, groups={"head": 1, "arm": 3})
    other = P.penetration({3: 4.0, 1: 2.0}, {2: 0.0, 1: 0.5}, groups={"arm": 3, "head": 1})
    assert one == other
    assert hash(one) == hash(other)


def test_the_schema_matches_the_files():
    schema = json.loads((files("cylcollide.characters") / "policy.schema.json").read_text())
    for policy in EVERY.values():
        content = json.loads(policy.to_json())
        assert sorted(schema["required"]) == sorted(schema["properties"]) == sorted(content)
        assert content["format"] == schema["properties"]["format"]["const"]
        assert content["version"] == schema["properties"]["version"]["const"]
    kinds = {policy.kind for policy in EVERY.values()}
    assert kinds == {*schema["properties"]["kind"]["enum"]}
    jsonschema = pytest.importorskip("jsonschema")
    for policy in EVERY.values():
        jsonschema.validate(json.loads(policy.to_json()), schema)
    for spoil in ({"kind": "best"}, {"damage": [["head", -1]]}, {"order": ["default"]}, {"groups": {"head": 0.5}}):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate({**json.loads(P.first_surface().to_json()), **spoil}, schema)


def test_policies_are_immutable():
    given = {"head": 4.0}
    policy = P.first_surface(given)
    given["head"] = 7.0
    assert policy.damage == {"head": 4.0}
    with pytest.raises(AttributeError):
        policy.kind = "longest_chord"
    with pytest.raises(TypeError):
        policy.damage["head"] = 5.0
    with pytest.raises(TypeError):
        policy.groups["head"] = 5


def test_numbers_of_any_kind():
    assert P.first_surface({np.int16(3): np.float32(0.5), 4: Fraction(1, 4)}) == P.first_surface({3: 0.5, 4: 0.25})
    assert P.first_surface({"head": 2}, default=3) == P.first_surface({"head": 2.0, "default": 3.0})
    assert P.penetration(np.float64(3)) == P.penetration({"default": 3})
    assert P.most_important(iter([np.int8(2), "head"])).order == (2, "head")


NAN, INF = float("nan"), float("inf")
WRONG: dict[str, tuple[Any, str]] = {
    "no mapping": (lambda: P.first_surface([("head", 2)]), "damage: expected a mapping"),
    "negative": (lambda: P.first_surface({"head": -1}), r"damage: .* 0 to 2\*\*500 for 'head', got -1"),
    "nan": (lambda: P.first_surface({1: NAN}), "damage: expected a number .* for 1, got nan"),
    "one inf": (lambda: P.penetration(INF), "loss: expected a number .* for 'default', got inf"),
    "huge": (lambda: P.penetration(10**400), "loss: expected a number .*\\.\\.\\."),
    "a bool for a group": (lambda: P.first_surface({True: 1}), "damage: expected a hit group .* got True"),
    "a float for a group": (lambda: P.first_surface({1.5: 1}), "damage: expected a hit group .* got 1.5"),
    "no name": (lambda: P.first_surface({"": 1}), "damage: expected a hit group .* got ''"),
    "large number": (lambda: P.first_surface({2**31: 1}), "damage: expected a hit group .* got 2147483648"),
    "two defaults": (lambda: P.first_surface({"default": 1}, default=2), "default: expected it once, got 2, and 1"),
    "order of text": (lambda: P.most_important("head"), "order: expected a list of hit groups, .* got 'head'"),
    "order of bytes": (lambda: P.most_important(b"head"), "order: expected a list of hit groups, .* got b'head'"),
    "order, an array of none": (lambda: P.most_important(np.array(None)), "order: expected a list .* got None"),
    "order, twice": (lambda: P.most_important(["head", 2, "head"]), "order: .* once, got 'head' at position 2"),
    "order, default": (lambda: P.most_important(["default"]), "order: .* come last, got 'default' at position 0"),
    "groups": (lambda: P.first_surface(groups=["head"]), "groups: expected a mapping"),
    "groups, number": (lambda: P.first_surface(groups={1: 2}), "groups: .* other than 'default' .* got 1: 2"),
    "groups, default": (lambda: P.first_surface(groups={"default": 2}), "groups: expected a name .* got 'default'"),
    "groups, float": (lambda: P.first_surface(groups={"head": 1.0}), "groups: .* an integer .* got 'head': 1.0"),
    "kind": (lambda: P("nearest"), "kind: expected one of first_surface, .* got 'nearest'"),
}


@pytest.mark.parametrize("which", WRONG)
def test_invalid_policies(which: str):
    make, sentence = WRONG[which]
    with pytest.raises(ValueError, match=sentence):
        make()


GOOD = json.loads(EVERY["penetration"].to_json())
FOREIGN: dict[str, Any] = {
    "no JSON": "{",
    "a rig": json.dumps({**GOOD, "format": "cylcollide rig"}),
    "another version": json.dumps({**GOOD, "version": 2}),
    "a field more": json.dumps({**GOOD, "rounds": 3}),
    "an object of weights": json.dumps({**GOOD, "damage": {"head": 4}}),
    "a group twice": json.dumps({**GOOD, "loss": [["head", 1], ["head", 2]]}),
    "a negative loss": json.dumps({**GOOD, "loss": [["head", -1]]}),
    "a kind": json.dumps({**GOOD, "kind": "best"}),
    "groups": json.dumps({**GOOD, "groups": [["head", 1]]}),
    **{f"without {name}": json.dumps({key: GOOD[key] for key in GOOD if key != name}) for name in GOOD},
}


@pytest.mark.parametrize("which", FOREIGN)
def test_foreign_json(which: str, tmp_path: Path):
    assert P.from_json(json.dumps(GOOD)) == EVERY["penetration"]
    with pytest.raises(ValueError, match="policy"):
        P.from_json(FOREIGN[which])
    path = tmp_path / "theirs.json"
    path.write_text(FOREIGN[which])
    with pytest.raises(ValueError, match=r"theirs\.json"):
        P.load(path)


# Names of hit groups --------------------------------------------------------------------------------------------------


def shot(policy: cc.Policy, world: cc.HitWorld) -> tuple[int, float]:
    """Return the group hit and the damage of a shot along x."""
    judged = world.judge_segments([-9, 0, 0], [9, 0, 0], policy)
    return judged.hit_group.item(), judged.damage.item()


def bare() -> cc.HitWorld:
    return cc.HitWorld(cc.Limbs.spheres([[0, 0, 0], [3, 0, 0]], 1.0, hit_group=[5, 1], character=2))


def test_names_come_from_the_policy_or_the_rigs():
    assert shot(P.most_important(["head"], {"head": 4}, groups={"head": 1}), bare()) == (1, 4.0)
    assert shot(P.most_important([1], {1: 4}), bare()) == (1, 4.0)
    sentence = r"policy, order: .* \(known: none\), got 'head'; give its number"
    with pytest.raises(ValueError, match=sentence):
        shot(P.most_important(["head"], {"head": 4}), bare())
    with pytest.raises(ValueError, match=r"policy, damage: .* \(known: 'arm' 5\), got 'head'"):
        shot(P.first_surface({"arm": 1, "head": 4}, groups={"arm": 5}), bare())
    with pytest.raises(ValueError, match=r"policy, loss: .* got 'head'"):
        shot(P.penetration({"head": 4}), bare())
    with pytest.raises(ValueError, match=r"policy, damage: .* once, got 1 and 'head', .* group 1"):
        shot(P.first_surface({1: 2, "head": 4}, groups={"head": 1}), bare())


def test_rigs_of_characters_bring_group_names():
    rig, world = cc.Rig.humanoid(), cc.HitWorld()
    ids = world.spawn(rig, 1)
    rest = rig.forward(np.zeros((1, 3)), [[0, 0, 0, 1]], rig.rest_orientations[None])
    world.set_poses(ids, *rest)
    head = world.limbs.names.index("head")
    aim, far = 0.5 * (world.limbs.p1 + world.limbs.p2)[head], np.array([5.0, 0.0, 0.0])
    policy = P.most_important(["head", "torso"], {"head": 4.0, "torso": 2.0, "default": 0.5})
    judged = world.judge_segments(aim - far, aim + far, policy, energy=10.0)
    assert (judged.limb_name[0], judged.damage[0], judged.character[0]) == ("head", 40.0, ids[0])
    assert judged.hit_group[0] == rig.groups["head"]
    assert judged.rig_limb[0] == head
    assert np.isfinite(judged.local_position).all()
    with pytest.raises(ValueError, match=r"known: 'head' 1, 'torso' 2.*got 'tail'"):
        world.judge_segments(aim, aim, P.first_surface({"tail": 1}))
    own = P.first_surface({"head": 4.0}, groups={"head": 77})  # the policy's own numbers take precedence
    assert world.judge_segments(aim - far, aim + far, own).damage[0] == 1.0

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mien.service.dispatch import choose, share
from mien.service.records import TenantId
from mien.service.state import Head


def head(tenant: str, priority: str = "normal", *, due: float = 0, served: float = 0, waiting: int = 1) -> Head:
    return Head(TenantId(tenant), priority, due, 0, waiting, served)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("heads", "next_one"),
    [
        pytest.param([], None, id="nothing waits"),
        pytest.param([head("a")], 0, id="one waits"),
        pytest.param([head("a", due=9), head("b", due=5)], 1, id="of equals the first one due"),
        pytest.param([head("a", due=1, served=3), head("b", due=9, served=2)], 1, id="who was given less"),
        pytest.param([head("a", waiting=1000, served=1), head("b", served=0)], 1, id="a thousand jobs weigh nothing"),
        pytest.param([head("a", "low", due=600), head("a", "high", due=500 + 10)], 1, id="high before low"),
        pytest.param([head("a", "low", due=600), head("a", "high", due=700 + 10)], 0, id="low that waited long enough"),
        pytest.param([head("b"), head("a")], 1, id="the same everywhere, whatever the order"),
    ],
)
def test_what_is_taken_next(heads: list[Head], next_one: int | None) -> None:
    assert choose(heads) == (None if next_one is None else heads[next_one])


@given(st.lists(st.integers(1, 5), min_size=2, max_size=5), st.integers(20, 200))
def test_busy_tenants_are_served_by_their_weight(weights: list[int], tasks: int) -> None:
    given_s = [0.0] * len(weights)
    for _ in range(tasks):
        heads = [head(str(number), served=given_s[number] / weights[number]) for number in range(len(weights))]
        chosen = choose(heads)
        assert chosen is not None
        given_s[int(chosen.tenant)] += 1
    for weight, seconds in zip(weights, given_s, strict=True):
        assert abs(seconds - tasks * weight / sum(weights)) <= max(weights)


@given(st.lists(st.tuples(st.sampled_from(["high", "normal", "low"]), st.integers(0, 100)), min_size=1, max_size=40))
def test_everything_is_taken_before_what_comes_ten_minutes_later(waiting: list[tuple[str, int]]) -> None:
    patience = {"high": 10, "normal": 120, "low": 600}
    heads = [head("a", priority, due=created + patience[priority]) for priority, created in waiting]
    newcomer = head("a", "high", due=100 + 600 + 10)
    while len(heads) > 0:
        chosen = choose([*heads, newcomer])
        assert chosen is not newcomer
        heads.remove(chosen)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("waiting", "slots", "taken"), [(0, 2, 1), (2, 2, 1), (3, 2, 2), (9, 2, 4), (1000, 2, 4), (9, 8, 2)]
)
def test_a_slot_takes_its_part_of_small_pictures(waiting: int, slots: int, taken: int) -> None:
    assert share(waiting, slots, most=4) == taken

import threading

import pytest

from mien.pipeline.once import Once


def test_a_thing_is_made_by_the_first_who_asks_while_the_others_wait() -> None:
    once, made, started = Once(), list[int](), threading.Barrier(8)

    def make() -> int:
        made.append(1)
        return 7

    def ask() -> None:
        started.wait()
        found.append(once.get(("key",), make))

    found: list[int] = []
    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (made, found) == ([1], [7] * 8)


def test_what_was_used_longest_ago_goes_first() -> None:
    once, made = Once(2), list[str]()

    def get(name: str) -> None:
        once.get((name,), lambda: made.append(name))

    for name in ("a", "b", "a", "c", "a", "b"):
        get(name)
    assert made == ["a", "b", "c", "b"]


def test_what_is_forgotten_is_made_again_and_the_rest_stays() -> None:
    once, made = Once(), list[tuple[str, ...]]()
    keys = [("source", "x", "y"), ("source", "z")]
    for key in keys:
        once.get(key, lambda key=key: made.append(key))
    once.forget("y")
    for key in keys:
        once.get(key, lambda key=key: made.append(key))
    assert made == [*keys, keys[0]]


def test_an_error_is_the_askers_and_the_next_one_tries_again() -> None:
    once = Once()
    with pytest.raises(ZeroDivisionError):
        once.get(("key",), lambda: 1 // 0)
    assert once.get(("key",), lambda: 5) == 5

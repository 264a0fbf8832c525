from __future__ import annotations

from recalld.actors.inference_thread.stop import StopSignal


def test_callbacks_are_called_once_when_the_flag_is_set() -> None:
    calls: list[bool] = []
    signal = StopSignal()
    signal.on_set(lambda: calls.append(signal.is_set()))
    assert not signal.is_set()
    signal.set()
    signal.set()
    assert calls == [True]


def test_a_callback_on_a_set_flag_is_called_at_once() -> None:
    calls: list[int] = []
    signal = StopSignal()
    signal.set()
    signal.on_set(lambda: calls.append(1))
    assert calls == [1]

from __future__ import annotations

import pytest
from wire_examples import REQUESTS

from recalld.protocol import requests
from recalld.protocol.client import ClientError
from recalld.protocol.client.errors import unexpected
from recalld.protocol.client.ids import RequestIds
from recalld.protocol.client.misuse import NEVER_VALID, MisuseLog, check_request
from recalld.protocol.client.settings import ClientSettings, may_repeat
from recalld.protocol.errors import RETRYABLE_CODES, ErrorCode
from recalld.protocol.fields import REQUEST_ID_MAX
from recalld.protocol.replies import Error, Ok, Pong, Recalled, Subscribed


def test_ids_start_over_after_the_largest_and_never_are_zero() -> None:
    ids = RequestIds(last=REQUEST_ID_MAX - 1)
    assert [ids.next_id(), ids.next_id(), ids.next_id()] == [REQUEST_ID_MAX, 1, 2]


@pytest.mark.parametrize("name", REQUESTS)
def test_whatever_was_not_sent_in_full_may_be_sent_again(name: str) -> None:
    assert may_repeat(REQUESTS[name], was_sent=False)


def test_of_what_was_sent_only_requests_whose_second_answer_is_the_first_are_repeated() -> None:
    repeated = {type(request).__name__ for request in REQUESTS.values() if may_repeat(request, was_sent=True)}
    assert {"Recall", "Observe", "Get", "Ping"} <= repeated
    assert not {"Remember", "Forget", "Subscribe", "Hello"} & repeated


def test_a_reply_of_another_kind_is_a_bad_reply_and_an_error_keeps_its_code() -> None:
    assert unexpected(Ok(id=1), Pong).code == "bad_reply"
    error = unexpected(Error(id=1, code="busy", message="m", retryable=True), Pong)
    assert (error.code, error.message, error.retryable) == ("busy", "m", True)


def test_an_error_says_by_its_code_whether_to_try_again() -> None:
    assert ClientError("timeout", "m").retryable
    assert not ClientError("bad_request", "m").retryable


@pytest.mark.parametrize("field", ["timeout_s", "recall_timeout_s"])
@pytest.mark.parametrize("value", [0, -1, float("nan")])
def test_a_timeout_must_be_positive(field: str, value: float) -> None:
    timeouts = {"timeout_s": 1.0, "recall_timeout_s": 1.0, field: value}
    with pytest.raises(ValueError, match=field):
        ClientSettings.of("/s", name="", version="", strict=False, **timeouts)


def test_a_recall_has_a_timeout_of_its_own() -> None:
    settings = ClientSettings(socket_path="/s", timeout_s=9.0, recall_timeout_s=2.0)
    recall = requests.Recall(user="u", session="s")
    assert settings.timeout_for(recall, None) == 2.0
    assert settings.timeout_for(requests.Standing(user="u", session="s"), None) == 2.0
    assert settings.timeout_for(requests.Ping(), None) == 9.0
    assert settings.timeout_for(recall, 0.5) == 0.5


@pytest.mark.parametrize(("wrong", "shown"), [("hi", "'hi'"), (None, "None"), (requests.Ping(), "Ping")])
def test_what_is_no_request_of_the_call_is_a_type_error_that_says_what_to_pass(wrong: object, shown: str) -> None:
    with pytest.raises(TypeError, match=r"Recall\(user=…, session=…\)") as caught:
        check_request(wrong, Recalled)
    assert shown in str(caught.value)
    check_request(requests.Subscribe(), Subscribed)


def test_a_recall_that_can_never_succeed_is_logged_once_for_each_kind(caplog: pytest.LogCaptureFixture) -> None:
    log = MisuseLog()
    for code in ("bad_request", "bad_request", "timeout", "busy", "frame_too_large", "connect_failed"):
        log.note(ClientError(code, f"field of {code}"))
    log.note(ClientError("bad_request", "session"), "standing")
    assert [record.getMessage() for record in caplog.records] == [
        "recall can never succeed as it is called: bad_request: field of bad_request",
        "recall can never succeed as it is called: frame_too_large: field of frame_too_large",
        "standing can never succeed as it is called: bad_request: session",
    ]
    assert {record.levelname for record in caplog.records} == {"WARNING"}


def test_what_can_never_succeed_is_not_retryable() -> None:
    assert set(ErrorCode) >= NEVER_VALID
    assert not NEVER_VALID & RETRYABLE_CODES

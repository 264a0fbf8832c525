"""What can go wrong between a model file and a score."""

from __future__ import annotations

from recalld.models.domain.errors import ErrorCode, RecalldError


class ModelFileError(RecalldError):
    """A model that cannot be used: a file is missing, is not the pinned one, or holds another kind of graph.

    Not retryable as it stands: somebody has to provide the file. The message names model, file, reason and remedy.
    """

    def __init__(self, message: str, *, is_missing: bool = False) -> None:
        super().__init__(ErrorCode.NOT_FOUND if is_missing else ErrorCode.CONFLICT, message)
        self.is_missing = is_missing


class InferenceError(RecalldError):
    """The runtime failed on one input, or answered with another shape than the model's head has."""

    def __init__(self, message: str) -> None:
        super().__init__(ErrorCode.INTERNAL, message)

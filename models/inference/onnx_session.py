"""The one place that talks to onnxruntime.

Threads are always set explicitly: left at its default of 0 the runtime sizes its pool from the machine and pins
threads to cores that a container or `taskset` may not have given us. Spinning is off because an idle daemon must cost
no CPU. Scores stay reproducible because every sequence runs alone, at its own length: dynamic int8 quantisation takes
its activation range over the whole tensor, so batch-mates would change each other's scores.
"""

from __future__ import annotations

from hashlib import sha256
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from recalld.models.domain.errors import ScoreStopped
from recalld.models.inference.errors import InferenceError, ModelFileError
from recalld.models.inference.pair import Feed
from recalld.models.inference.quiet_runtime import ort

_INPUT_NAMES = frozenset({"input_ids", "attention_mask", "token_type_ids"})
_LOG_ERRORS_ONLY = 3


class StopCallback(Protocol):
    """What a stop flag calls when it is set."""

    def __call__(self) -> None:
        """Ask the running inference to stop."""
        ...


class StopFlag(Protocol):
    """Set from another thread to abandon a running inference."""

    def is_set(self) -> bool:
        """Whether to stop."""
        ...

    def on_set(self, callback: StopCallback) -> None:
        """Call back once, at once if set already."""
        ...


class NeverStop:
    """A stop flag nobody sets."""

    def is_set(self) -> bool:
        """Never."""
        return False

    def on_set(self, callback: StopCallback) -> None:
        """Forget the callback: it would never be called."""


class OnnxSession:
    """A loaded graph with one float output. `run` may be called from several threads at once.

    Attributes:
        sha256: Hash of the model file, in hex.
    """

    def __init__(self, model: bytes, *, output: str, intra_op_threads: int = 1) -> None:
        """Load a graph from the very bytes that were verified. Takes about 0.3 s for 34 MB.

        Args:
            model: Content of an ONNX file.
            output: Name of the output that `run` returns.
            intra_op_threads: Threads one run may use, the caller's included; at least 1.

        Raises:
            ModelFileError: The bytes are no graph, or one with other inputs or outputs.
            ValueError: `intra_op_threads` is below 1.
        """
        if intra_op_threads < 1:
            message = f"intra_op_threads must be at least 1 (0 would let the runtime choose), got {intra_op_threads}"
            raise ValueError(message)
        try:
            self._session = ort.InferenceSession(model, _options(intra_op_threads), providers=["CPUExecutionProvider"])
        except Exception as error:  # the runtime's errors share no base class but Exception
            message = f"model.onnx cannot be loaded ({type(error).__name__}); provision the model again"
            raise ModelFileError(message) from error
        self._output = output
        self._check_signature()
        self.sha256 = sha256(model).hexdigest()

    def _check_signature(self) -> None:
        inputs = {given.name for given in self._session.get_inputs()}
        outputs = {given.name for given in self._session.get_outputs()}
        if inputs != _INPUT_NAMES or self._output not in outputs:
            message = (
                f"model.onnx takes {sorted(inputs)} and gives {sorted(outputs)}; expected {sorted(_INPUT_NAMES)} "
                f"and {self._output!r}; configure a model of the right role"
            )
            raise ModelFileError(message)

    def run(self, feed: Feed, stop: StopFlag) -> NDArray[np.float32]:
        """Run one sequence.

        Args:
            feed: Inputs of shape (1, tokens).
            stop: Abandons the run between two nodes of the graph once set.

        Returns:
            The output as the graph gives it, batch dimension first.

        Raises:
            ScoreStopped: `stop` was set before the run ended.
            InferenceError: The runtime failed.
        """
        if stop.is_set():
            raise ScoreStopped
        options = ort.RunOptions()
        # A terminated run is not an error, but the runtime would print one; real failures are raised all the same.
        options.log_severity_level = _FATAL
        stop.on_set(lambda: _terminate(options))
        try:
            outputs: list[NDArray[np.float32]] = self._session.run([self._output], feed, options)
        except Exception as error:  # the runtime's errors share no base class but Exception
            if stop.is_set():
                raise ScoreStopped from error
            message = f"onnxruntime failed on {feed['input_ids'].shape[1]} tokens ({type(error).__name__})"
            raise InferenceError(message) from error
        return outputs[0]


_FATAL = 4
"""The highest of the runtime's five log severities."""


def _terminate(options: ort.RunOptions) -> None:
    options.terminate = True


def _options(intra_op_threads: int) -> ort.SessionOptions:
    options = ort.SessionOptions()
    options.intra_op_num_threads = intra_op_threads
    options.inter_op_num_threads = 1
    options.execution_mode = ort.ExecutionMode.ORT_SEQUENTIAL
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_ENABLE_ALL
    # A memory pattern is remembered per input shape; every length is another shape, so it would only grow.
    options.enable_mem_pattern = False
    options.log_severity_level = _LOG_ERRORS_ONLY
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    options.add_session_config_entry("session.inter_op.allow_spinning", "0")
    return options

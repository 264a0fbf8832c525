"""A runtime that lends recalld its model, complete but for the model. THE MODEL IN IT IS A TOY: do not keep it.

    python docs/examples/extractor.py /run/user/1000/recalld/recalld.sock
    recalld cues backfill

In place of a language model it has one rule, so that it can be run and tested anywhere: a memory of the form "name:
what it is" gets its name as heading and "What is name?" as question. For every other memory it refuses to answer, and
nothing is written. Put your own model behind `ask_model`: give it `question.prompt` as the instruction and
`question.turns` as material, no tools, and return what it writes. `recalld cues backfill --undo` takes away again what
models wrote.
"""
# ruff: noqa: INP001 - a script to read and copy, not a module of a package

from __future__ import annotations

import argparse
import json
import re
import sys

import anyio

from recalld.protocol.client import AsyncClient, ClientError
from recalld.protocol.client.lending import ExtractReply
from recalld.protocol.replies import ExtractRequest

PING_EVERY_S = 5.0
"""How often to see that the daemon is there: a call connects again where a restart has ended the connection."""
DEFINITION = re.compile(r"\s*(?P<name>\w[\w-]*(?: \w[\w-]*){0,2}): +\w")
"""A name of up to three words, a colon, and what it is."""


async def ask_model(question: ExtractRequest) -> ExtractReply | str:
    """Answer a question of the daemon; a toy, to be replaced by your model.

    Args:
        question: What is asked. A runtime that does not care for a purpose refuses it.

    Returns:
        What the model wrote, as it wrote it.
    """
    if question.purpose != "cues":
        return ExtractReply(refused=True)
    record = json.loads(question.prompt.splitlines()[-1])  # this prompt ends with the memory, as JSON on one line
    definition = DEFINITION.match(record["text"])
    if definition is None:
        return ExtractReply(refused=True)
    name = definition["name"]
    return json.dumps({"cues": [name], "asks": [f"What is {name}?"]})


async def lend(socket_path: str) -> None:
    """Lend the model until this program is stopped, through restarts of the daemon too."""
    async with AsyncClient(socket_path, name="example-extractor", version="1.0", extractor=ask_model) as client:
        while True:
            try:
                welcome = await client.connect()
                if "extractor" not in welcome.features:
                    sys.exit("this daemon asks nobody: it has no feature `extractor`; bring it up to date")
                sys.stderr.write("this example lends a toy rule, not a model: put your own behind ask_model\n")
                sys.stdout.write("lending\n")
                sys.stdout.flush()
                while True:
                    await anyio.sleep(PING_EVERY_S)
                    await client.ping()
            except ClientError as error:
                if not error.retryable:
                    raise
                sys.stderr.write(f"{error}; trying again\n")
                await anyio.sleep(PING_EVERY_S)


def main() -> None:
    """Read the command line and lend."""
    parser = argparse.ArgumentParser(description="Lend recalld a model that is one rule.")
    parser.add_argument("socket", help="path of the daemon's socket")
    anyio.run(lend, parser.parse_args().socket)


if __name__ == "__main__":
    main()

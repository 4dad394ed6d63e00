# SPDX-License-Identifier: Apache-2.0
"""Checks a document against the OpenRPC meta-schema, and its schemas against JSON Schema."""

import json
import pathlib

from jsonschema import Draft7Validator, Draft202012Validator
from jsonschema.exceptions import SchemaError
from referencing import Registry, Resource
from referencing.jsonschema import DRAFT7

FOLDER = pathlib.Path(__file__).resolve().parent.parent.parent / "Tests" / "Schemas"
# The source of the meta-schema has no versions; its project fills them in at a release.
VERSIONS = ["1.3.2"]


def faults(document):
    found = [
        f"OpenRPC: {error.message[:300]} (at /{'/'.join(map(str, error.absolute_path))})"
        for error in validator().iter_errors(document)
    ]
    for name, schema in document["components"]["schemas"].items():
        for draft in (Draft7Validator, Draft202012Validator):
            try:
                draft.check_schema(schema)
            except SchemaError as error:
                found.append(f"{name}: is not a schema of {draft.__name__}: {error.message[:300]}")
    return found


def validator():
    meta = json.loads((FOLDER / "openrpc-meta-schema.json").read_text())
    meta["properties"]["openrpc"]["enum"] = VERSIONS
    schemas = json.loads((FOLDER / "json-schema-tools-meta-schema.json").read_text())
    resource = Resource(contents=schemas, specification=DRAFT7)
    registry = Registry().with_resources(
        [("https://meta.json-schema.tools", resource), ("https://meta.json-schema.tools/", resource)])
    return Draft7Validator(meta, registry=registry)

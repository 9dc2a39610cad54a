"""Answers of a later release, for generated clients: each has a value that nobody knows in every open set.

The argument is the document. Prints a list of answers as JSON: for each operation its identifier, the status, the name of the answer's
schema if it has one, and the body; for each webhook the name of the schema and the body. Fails if an open set is in none of them.
"""

import json
import sys
from pathlib import Path

TOMORROW = "a_value_of_tomorrow"
OPEN = "x-extensible-enum"
FORMS = {"uri": "https://interviews.example.com/", "email": "ada@example.com", "date": "2026-11-08"}


class Answers:
    def __init__(self, document):
        self.document = document
        self.schemas = document["components"]["schemas"]
        self.opened = set()

    def value(self, schema, within=()):
        """A value with everything that a schema names. References into `within`, which would not end, are left out."""
        if "$ref" in schema:
            name = schema["$ref"].rsplit("/", 1)[1]
            if name in within:
                raise RecursionError(name)
            return self.value(self.schemas[name], (*within, name))
        if OPEN in schema:
            self.opened.add(id(schema))
            return TOMORROW
        if "anyOf" in schema:
            return self.chosen(schema["anyOf"], within)
        kinds = [schema["type"]] if isinstance(schema.get("type"), str) else schema.get("type", [])
        if "object" in kinds:
            return self.members(schema, within)
        if "array" in kinds:
            return self.items(schema["items"], within) * schema.get("minItems", 1)
        for given in ("examples", "enum"):
            if schema.get(given):
                return schema[given][0]
        if schema.get("format") in FORMS:
            return FORMS[schema["format"]]
        return schema.get("const", {"string": "text", "integer": 1, "number": 1, "boolean": True}.get(kinds[0] if kinds else None))

    def chosen(self, choices, within):
        """A value of the choice that says most: of an object rather than of its URL, of anything rather than of null."""
        for choice in reversed(choices):
            if choice.get("type") != "null":
                try:
                    return self.value(choice, within)
                except RecursionError:
                    continue
        return None

    def members(self, schema, within):
        found = {}
        for name, of in schema.get("properties", {}).items():
            try:
                found[name] = self.value(of, within)
            except RecursionError:
                # What holds itself can do without.
                if name in schema.get("required", ()):
                    raise
        others = schema.get("additionalProperties")
        if isinstance(others, dict):
            found[self.value(schema.get("propertyNames", {"type": "string"}), within) or "a name"] = self.value(others, within)
        return found

    def items(self, schema, within):
        try:
            return [self.value(choice, within) for choice in self.alternatives(schema)]
        except RecursionError:
            return []

    def alternatives(self, schema):
        """The objects that a body or an item may be; the schema itself if it is no choice between objects."""
        named = self.schemas[schema["$ref"].rsplit("/", 1)[1]] if "$ref" in schema else schema
        choices = named.get("anyOf", ())
        return choices if choices and all("$ref" in choice for choice in choices) else [schema]

    def all(self):
        for path in self.document["paths"].values():
            for operation in path.values():
                for status, response in operation["responses"].items():
                    content = response.get("content", {}).get("application/json")
                    if status.startswith("2") and content and operation["operationId"] != "getThisDocument":
                        for schema in self.alternatives(content["schema"]):
                            yield {
                                "operation": operation["operationId"],
                                "status": int(status),
                                "schema": schema.get("$ref", "").rsplit("/", 1)[-1],
                                "body": self.value(schema),
                            }
        for webhook in self.document["webhooks"].values():
            schema = webhook["post"]["requestBody"]["content"]["application/json"]["schema"]
            yield {"schema": schema["$ref"].rsplit("/", 1)[1], "body": self.value(schema)}

    def missed(self, node, place=""):
        """The places of open sets that no answer has."""
        if isinstance(node, dict):
            if OPEN in node and id(node) not in self.opened:
                yield place
            for key, inner in node.items():
                yield from self.missed(inner, f"{place}.{key}")
        elif isinstance(node, list):
            for inner in node:
                yield from self.missed(inner, place)


document = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
answers = Answers(document)
found = list(answers.all())
missed = list(answers.missed(document["components"]["schemas"]))
assert not missed, f"open sets in no answer: {missed}"
assert len(answers.opened) > 20, answers.opened
json.dump(found, sys.stdout)

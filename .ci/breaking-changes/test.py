"""Tests the comparison: for each rule a document that breaks it, and changes that break nothing.

Each case is what is edited in a small document, first in the old one if it needs something there.
"""

import contextlib
import copy
import io
import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import main
from alternatives import Unreadable
from operations import compare
from rules import ADDITIONS, BREAKS

DOCUMENT = {
    "openapi": "3.1.0",
    "info": {"title": "Pets", "version": "1"},
    "servers": [{"url": "/api/v1"}],
    "paths": {
        "/pets/{petId}/": {
            "put": {
                "operationId": "putPet",
                "tags": ["Pets"],
                "security": [{"token": []}, {"cookie": []}],
                "parameters": [
                    {"name": "petId", "in": "path", "required": True, "schema": {"type": "string"}},
                    {"name": "dry", "in": "query", "schema": {"type": "boolean"}},
                    {"name": "size", "in": "query", "schema": {"$ref": "#/components/schemas/Size"}},
                    {"$ref": "#/components/parameters/IfMatch"},
                ],
                "requestBody": {
                    "required": False,
                    "content": {
                        "application/json": {"schema": {"$ref": "#/components/schemas/NewPet"}},
                        "application/xml": {"schema": {"type": "string"}},
                    },
                },
                "responses": {
                    "200": {
                        "description": "",
                        "headers": {"ETag": {"required": True, "schema": {"type": "string"}}},
                        "content": {
                            "application/json": {"schema": {"$ref": "#/components/schemas/Pet"}},
                            "text/csv": {"schema": {"type": "string"}},
                        },
                    },
                    "404": {"description": ""},
                },
            },
            "get": {"operationId": "getPet", "tags": ["Pets"], "responses": {"302": {"description": ""}}},
        },
    },
    "webhooks": {
        "born": {
            "post": {
                "operationId": "onBorn",
                "parameters": [{"name": "signature", "in": "header", "schema": {"type": "string"}}],
                "requestBody": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Pet"}}}},
                "responses": {"default": {"description": ""}},
            }
        },
        "died": {"post": {"operationId": "onDied", "responses": {"default": {"description": ""}}}},
    },
    "components": {
        "parameters": {"IfMatch": {"name": "If-Match", "in": "header", "schema": {"type": "string"}}},
        "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        "schemas": {
            "Size": {"type": "integer", "minimum": 1, "maximum": 100, "default": 10},
            "Unused": {"type": "string"},
            "NewPet": {
                "type": "object",
                "required": ["name"],
                "properties": {
                    "name": {"type": "string", "minLength": 1, "maxLength": 50},
                    "kind": {"type": "string", "enum": ["cat", "dog"]},
                    "mood": {"type": ["string", "null"], "enum": ["good", "bad", None]},
                    "note": {"type": ["string", "null"], "default": ""},
                    "tags": {"type": "array", "items": {"type": "string"}, "maxItems": 5},
                    "owner": {"anyOf": [{"type": "string", "format": "uri"}, {"type": "integer"}]},
                    "food": {
                        "oneOf": [
                            {"type": "object", "required": ["fish"], "properties": {"fish": {"type": "string"}}},
                            {"type": "object", "required": ["meat"], "properties": {"meat": {"type": "string"}}},
                        ]
                    },
                },
            },
            "Pet": {
                "type": "object",
                "required": ["name", "kind"],
                "properties": {
                    "name": {"type": "string", "maxLength": 50},
                    "kind": {"type": "string", "enum": ["cat", "dog"]},
                    "mood": {"anyOf": [{"type": "string", "enum": ["good", "bad"]}, {"type": "null"}]},
                    "coat": {"type": "string", "x-extensible-enum": ["long", "short"]},
                    "tricks": {"type": "array", "items": {"type": "string"}, "contains": {"const": "sit"}},
                    "version": {"const": 1},
                    "born": {"type": "string", "format": "date"},
                    "age": {"type": "integer", "minimum": 0},
                    "owner": {"anyOf": [{"type": "string"}, {"$ref": "#/components/schemas/Owner"}]},
                    "extra": {"type": "object", "additionalProperties": {"type": "string"}},
                    "children": {"type": "array", "items": {"$ref": "#/components/schemas/Pet"}},
                },
            },
            "Owner": {"type": "object", "required": ["name"], "properties": {"name": {"type": "string"}}},
        },
    },
}

PUT = "paths /pets/{petId}/ put"
GET = "paths /pets/{petId}/ get"
BODY = f"{PUT} requestBody"
OK = f"{PUT} responses 200"
SCHEMAS = "components schemas"
SENT = f"{SCHEMAS} NewPet properties"
SHOWN = f"{SCHEMAS} Pet properties"
BORN = "webhooks born post"
GONE = object()


def edited(document, edits):
    """A copy of the document with these values at paths of keys, which spaces separate; GONE removes one."""
    document = copy.deepcopy(document)
    for path, value in edits.items():
        *keys, last = (int(key) if key.isdigit() else key for key in path.split(" "))
        at = document
        for key in keys:
            at = at[key if isinstance(at, list) or key in at else str(key)]
        last = last if isinstance(at, list) or last in at else str(last)
        if value is GONE:
            del at[last]
        elif isinstance(at, list) and last == len(at):
            at.append(value)
        else:
            at[last] = value
    return document


# For each rule, changes of which each breaks this rule and is nothing else.
BROKEN = {
    "server-changed": [{"servers": [{"url": "/api/v2"}]}],
    "operation-removed": [{GET: GONE}],
    "operation-renamed": [{f"{GET} operationId": "readPet"}],
    "operation-regrouped": [{f"{GET} tags": ["Animals"]}],
    "security-added": [
        {f"{GET} security": [{"token": []}]},
        {f"{PUT} security": [{"token": []}]},
        {"security": [{"token": []}]},
        {f"{PUT} security": [{"token": [], "cookie": []}, {"token": []}]},
    ],
    "security-scheme-changed": [{"components securitySchemes token scheme": "basic"}],
    "schema-removed": [{f"{SCHEMAS} Unused": GONE}],
    "parameter-removed": [{f"{PUT} parameters 1": GONE}, {f"{PUT} parameters 3": GONE}],
    "parameter-moved": [{f"{PUT} parameters 1 in": "header"}],
    "parameter-required": [
        {f"{PUT} parameters 1 required": True},
        {f"{PUT} parameters 4": {"name": "x", "in": "query", "required": True, "schema": {"type": "string"}}},
        {"components parameters IfMatch required": True},
    ],
    "parameter-style-changed": [{f"{PUT} parameters 1 explode": False}, {f"{PUT} parameters 0 style": "label"}],
    "request-body-removed": [{BODY: GONE}],
    "request-body-required": [
        {f"{BODY} required": True},
        {f"{GET} requestBody": {"required": True, "content": {}}},
    ],
    "request-media-type-removed": [{f"{BODY} content application/xml": GONE}],
    "request-field-removed": [{f"{SENT} note": GONE}],
    "request-field-required": [
        {f"{SCHEMAS} NewPet required": ["name", "kind"]},
        {f"{SCHEMAS} NewPet required": ["name", "new"], f"{SENT} new": {"type": "string"}},
    ],
    "request-type-removed": [
        {f"{SENT} note type": "string"},
        {f"{SENT} mood": {"type": "string", "enum": ["good", "bad"]}},
        {f"{SENT} owner": {"type": "string", "format": "uri"}},
        {f"{SENT} tags items": {"type": "integer"}},
        {f"{BODY} content application/xml schema type": "object"},
        {f"{PUT} parameters 1 schema": {"type": ["string"]}},
        {f"{SENT} note": False},
    ],
    "request-alternative-removed": [{f"{SENT} food oneOf 1": GONE}],
    "request-value-removed": [
        {f"{SENT} kind enum": ["cat"]},
        {f"{SENT} mood enum": ["good", None]},
        {f"{SENT} kind": {"type": "string", "pattern": "^c"}},
        {f"{SENT} kind": {"type": "string", "maxLength": 2}},
        {f"{SENT} kind": {"type": "string", "minLength": 4}},
        {f"{SENT} kind": {"type": "string", "format": "uri"}},
    ],
    "request-values-limited": [{f"{SENT} note enum": ["a", None]}, {f"{PUT} parameters 0 schema enum": ["1"]}],
    "request-limit-narrowed": [
        {f"{SENT} name maxLength": 49},
        {f"{SENT} name minLength": 2},
        {f"{SENT} note maxLength": 1000},
        {f"{SENT} tags minItems": 1},
        {f"{SCHEMAS} Size maximum": 99},
        {f"{SCHEMAS} Size minimum": 2},
    ],
    "request-form-narrowed": [
        {f"{SENT} name pattern": "^[a-z]+$"},
        {f"{SENT} note format": "email"},
        {f"{SENT} tags uniqueItems": True},
        {f"{SENT} owner anyOf 0 format": "email"},
        {f"{SCHEMAS} NewPet propertyNames": {"type": "string", "pattern": "^[a-z]+$"}},
    ],
    "request-default-changed": [
        {f"{SCHEMAS} Size default": 20},
        {f"{SCHEMAS} Size default": GONE},
        {f"{SENT} note default": None},
    ],
    "request-other-fields-narrowed": [
        {f"{SCHEMAS} NewPet additionalProperties": False},
        {f"{SCHEMAS} NewPet additionalProperties": {"type": "string"}},
    ],
    "response-status-removed": [{f"{GET} responses": {"404": {"description": ""}}}],
    "response-status-added": [
        {f"{PUT} responses 201": {"description": ""}},
        {f"{PUT} responses 303": {"description": ""}},
    ],
    "response-media-type-removed": [{f"{OK} content text/csv": GONE}],
    "response-header-removed": [{f"{OK} headers": {}}],
    "response-header-optional": [{f"{OK} headers ETag required": False}],
    "response-field-removed": [{f"{SHOWN} age": GONE}],
    "response-field-optional": [{f"{SCHEMAS} Pet required": ["name"]}],
    "response-type-added": [
        {f"{SHOWN} name type": ["string", "null"]},
        {f"{SHOWN} age type": "number"},
        {f"{SHOWN} kind": {"anyOf": [{"type": "string", "enum": ["cat", "dog"]}, {"type": "null"}]}},
        {f"{SHOWN} kind": {"type": ["string", "null"], "enum": ["cat", "dog", None]}},
        {f"{SHOWN} age": {"description": "Any value."}},
        {f"{OK} content text/csv schema type": ["string", "null"]},
        {f"{OK} headers ETag schema type": "integer"},
        {f"{BORN} parameters 0 schema type": "integer"},
        {f"{BORN} requestBody content application/json schema": {"anyOf": [{"$ref": "#/components/schemas/Pet"}, {"type": "null"}]}},
        {f"{SHOWN} extra additionalProperties type": "integer"},
    ],
    "response-alternative-added": [
        {f"{OK} content application/json schema": {"anyOf": [{"$ref": "#/components/schemas/Pet"}, {"$ref": "#/components/schemas/Owner"}]}},
        {f"{SHOWN} owner anyOf 2": {"type": "object", "required": ["firm"], "properties": {"firm": {"type": "string"}}}}
    ],
    "response-closed-set-extended": [
        {f"{SHOWN} kind enum": ["cat", "dog", "emu"]},
        {f"{SHOWN} mood": {"type": ["string", "null"], "enum": ["good", "bad", "so-so", None]}},
        {f"{SHOWN} coat": {"type": "string", "enum": ["long", "short"]}, f"{SHOWN} kind enum": ["emu"]},
        {f"{SHOWN} version const": 2},
    ],
    "response-values-opened": [
        {f"{SHOWN} kind": {"type": "string"}},
        {f"{SHOWN} kind": {"type": "string", "x-extensible-enum": ["cat", "dog"]}},
        {f"{SHOWN} mood": {"type": ["string", "null"]}},
    ],
    "response-limit-relaxed": [
        {f"{SHOWN} name maxLength": 60},
        {f"{SHOWN} name maxLength": GONE},
        {f"{SHOWN} age minimum": -1},
    ],
    "response-form-widened": [
        {f"{SHOWN} born format": GONE},
        {f"{SHOWN} born format": "date-time"},
        {f"{SHOWN} tricks contains const": "beg"},
    ],
    "response-other-fields-widened": [{f"{SHOWN} extra additionalProperties": GONE}],
    "webhook-removed": [{"webhooks died": GONE}],
    "webhook-header-removed": [{f"{BORN} parameters": []}],
    "unknown-keyword": [
        {f"{SENT} name not": {"type": "null"}},
        {f"{SENT} tags items if": {}},
        {f"{SHOWN} extra additionalProperties x": 1},
        {f"{SHOWN} mood anyOf 0 x": 1},
        {f"{SCHEMAS} Unused propertyNames": {"x": 1}},
        {f"{PUT} callbacks": {}},
        {f"{PUT} parameters 1 content": {}},
        {f"{BODY} x": 1},
        {f"{BODY} content application/json encoding": {}},
        {f"{OK} links": {}},
        {f"{OK} headers ETag content": {}},
        {f"{BORN} callbacks": {}},
        {"paths /pets/{petId}/ servers": []},
        {"x": 1},
        {f"{PUT} parameters 1 schema": {"type": "boolean", "x": 1}},
        {f"{OK} content text/csv schema": {"type": "string", "x": 1}},
        {f"{OK} headers ETag schema": {"type": "string", "x": 1}},
    ],
}

# What comes with a break where something takes the place of what was removed.
INSTEAD = {
    "security-added": {"security-extended"},
    "request-type-removed": {"request-type-added"},
    "response-status-removed": {"response-status-added-for-errors"},
}

# For each addition, changes that are this one and nothing else.
ADDED = {
    "operation-added": [{"paths /toys/": {"get": {"operationId": "listToys", "responses": {}}}}],
    "operation-deprecated": [{f"{GET} deprecated": True}],
    "security-extended": [{f"{PUT} security": [{"token": []}, {"cookie": []}, {}]}],
    "parameter-added": [{f"{PUT} parameters 4": {"name": "x", "in": "query", "schema": {"type": "string"}}}],
    "parameter-optional": [{f"{PUT} parameters 0 required": False}],
    "request-body-added": [{f"{GET} requestBody": {"content": {}}}],
    "request-media-type-added": [{f"{BODY} content text/plain": {"schema": {"type": "string"}}}],
    "request-field-added": [{f"{SENT} new": {"type": "string"}}],
    "request-field-optional": [{f"{SCHEMAS} NewPet required": []}],
    "request-type-added": [
        {f"{SENT} name type": ["string", "null"]},
        {f"{SENT} kind": {"anyOf": [{"type": "string", "enum": ["cat", "dog"]}, {"type": "null"}]}},
        {f"{SENT} owner anyOf 2": {"type": "null"}},
    ],
    "request-value-added": [{f"{SENT} kind enum": ["cat", "dog", "emu"]}],
    "request-limit-relaxed": [{f"{SENT} name maxLength": 60}, {f"{SENT} name minLength": GONE}],
    "request-form-widened": [{f"{SENT} owner anyOf 0 format": GONE}],
    "response-status-added-for-errors": [{f"{PUT} responses 429": {"description": ""}}],
    "response-media-type-added": [{f"{OK} content text/plain": {"schema": {"type": "string"}}}],
    "response-header-added": [{f"{OK} headers Link": {"schema": {"type": "string"}}}],
    "response-field-added": [{f"{SHOWN} new": {"type": "string"}}],
    "response-value-added": [{f"{SHOWN} coat x-extensible-enum": ["long", "short", "none"]}],
    "field-deprecated": [{f"{SHOWN} age deprecated": True}],
    "webhook-added": [{"webhooks sold": {"post": {"operationId": "onSold", "responses": {}}}}],
}

# Changes that are none for clients.
UNCHANGED = [
    {},
    {f"{SENT} name description": "A name."},
    # Two spellings of one schema.
    {f"{SENT} mood": {"anyOf": [{"type": "string", "enum": ["good", "bad"]}, {"type": "null"}]}},
    {f"{SENT} note": {"anyOf": [{"type": "string"}, {"type": "null"}], "default": ""}},
    {f"{SHOWN} mood": {"type": ["string", "null"], "enum": ["good", "bad", None]}},
    {f"{SENT} owner": {"oneOf": [{"type": "integer"}, {"type": "string", "format": "uri"}]}},
    {f"{SENT} note minLength": 0},
    {f"{SHOWN} kind": {"type": ["string", "null"], "enum": ["cat", "dog"]}},
    {"components parameters IfMatch name": "if-match"},
    {f"{PUT} parameters 1 explode": True},
    {f"{PUT} parameters 2 schema": {"type": "integer", "minimum": 1, "maximum": 100, "default": 10}},
    {f"{SENT} mood": {"anyOf": [{"type": ["string", "null"], "enum": ["good", "bad"], "maxLength": 9}, {"type": "null"}]}},
    {f"{SENT} tags maxLength": 1, f"{SENT} tags minimum": 9, f"{SENT} note items": {"type": "null"}},
    # Less than what was promised.
    {f"{PUT} responses 404": GONE},
    {f"{SHOWN} kind enum": ["cat"]},
    {f"{SHOWN} coat x-extensible-enum": ["long"]},
    {f"{SHOWN} coat": {"type": "string", "enum": ["long", "short"]}},
    {f"{SHOWN} mood": {"type": "string", "enum": ["good", "bad"]}},
    {f"{SHOWN} name maxLength": 40},
    {f"{SHOWN} name pattern": "^[a-z]+$"},
    {f"{SHOWN} owner": {"$ref": "#/components/schemas/Owner"}},
    {f"{SCHEMAS} Pet required": ["name", "kind", "age"]},
]


def found(edits, document=DOCUMENT):
    return {finding.rule for finding in compare(document, edited(document, edits))}


class Comparison(unittest.TestCase):
    def test_every_rule_has_a_document_that_breaks_it(self):
        self.assertEqual(BROKEN.keys(), BREAKS.keys())
        for rule, cases in BROKEN.items():
            for edits in cases:
                with self.subTest(rule=rule, edits=edits):
                    self.assertEqual(found(edits) - INSTEAD.get(rule, set()), {rule})

    def test_additions_break_nothing(self):
        of_body = {"request-body-optional"}
        self.assertEqual(ADDED.keys() | of_body, ADDITIONS.keys())
        for rule, cases in ADDED.items():
            for edits in cases:
                with self.subTest(rule=rule, edits=edits):
                    self.assertEqual(found(edits), {rule})
        required = edited(DOCUMENT, {f"{BODY} required": True})
        self.assertEqual(found({f"{BODY} required": False}, required), of_body)

    def test_what_is_the_same_for_clients_is_nothing(self):
        for edits in UNCHANGED:
            with self.subTest(edits=edits):
                self.assertEqual(found(edits), set())

    def test_values_may_be_listed_by_one_document_only(self):
        # More than what was accepted, where all listed values go on being accepted.
        self.assertEqual(found({f"{SENT} kind": {"type": "string", "maxLength": 3}}), set())
        # Less than what was shown.
        self.assertEqual(found({f"{SHOWN} born": {"type": "string", "enum": ["2026-11-08"]}}), set())

    def test_a_change_of_a_named_schema_is_told_once(self):
        findings = compare(DOCUMENT, edited(DOCUMENT, {f"{SHOWN} age": GONE}))
        self.assertEqual([finding.place for finding in findings], ["Pet (response).age"])

    def test_parts_of_a_schema_are_put_together(self):
        base = {"type": "object", "required": ["id"], "properties": {"id": {"type": "string"}}}
        whole = {f"{SHOWN} owner": {"allOf": [base, {"properties": {"age": {"type": "integer"}}}]}}
        document = edited(DOCUMENT, whole)
        self.assertEqual(found({f"{SHOWN} owner allOf 1": GONE}, document), {"response-field-removed"})
        self.assertEqual(found({f"{SHOWN} owner": base}, document), {"response-field-removed"})
        both = {f"{SHOWN} owner allOf 1 required": ["age"]}
        optional = found({f"{SHOWN} owner allOf 0 required": [], f"{SHOWN} owner allOf 1 required": []}, edited(document, both))
        self.assertEqual(optional, {"response-field-optional"})
        with self.assertRaises(Unreadable):
            found({f"{SHOWN} owner allOf 1 type": "array"}, document)


class Gate(unittest.TestCase):
    def wanted(self, text):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "wanted.toml")
            path.write_text(text, encoding="utf-8")
            return main.wanted_breaks(path)

    def test_only_breaks_that_are_named_pass(self):
        findings = compare(DOCUMENT, edited(DOCUMENT, {f"{SHOWN} age": GONE, f"{SHOWN} new": {"type": "string"}}))
        named = '[[break]]\nrule = "response-field-removed"\nplaces = ["Pet (response).age"]\nreason = "Pets have no age."'
        for text, counts in [
            ("", (1, 0, 1, 0)),
            (named, (1, 1, 0, 0)),
            (named.replace(".age", ".*"), (1, 1, 0, 0)),
            (named.replace(".age", ".size"), (1, 0, 1, 1)),
            (named.replace("field-removed", "field-optional"), (1, 0, 1, 1)),
        ]:
            self.assertEqual(tuple(map(len, main.judge(findings, self.wanted(text)))), counts, text)
        for wrong in ('reason = ""', 'reason = "x"\nplace = "y"', ""):
            with self.assertRaises(SystemExit):
                self.wanted(named.replace('reason = "Pets have no age."', wrong))
        with self.assertRaises(SystemExit):
            self.wanted(named.replace("field-removed", "field-renamed"))

    def test_the_program_fails_on_breaks_and_on_what_is_named_in_vain(self):
        broken, grown = {f"{SHOWN} age": GONE}, {f"{SHOWN} new": {"type": "string"}}
        named = '[[break]]\nrule = "response-field-removed"\nplaces = ["Pet*"]\nreason = "Pets have no age."'
        for edits, text, status, told in [
            (grown, "", 0, ["Added since", "- Pet (response).new: a new field [response-field-added]", "1 additions, 0 breaks"]),
            (broken, "", 1, ["Broken since", "- Pet (response).age: a field no longer comes", "1 changes break clients"]),
            (broken, named, 0, ["Broken on purpose since", "0 additions, 1 breaks on purpose, 0 other breaks"]),
            (grown, named, 1, ["names response-field-removed at Pet*, which nothing breaks any more. Remove it."]),
        ]:
            with tempfile.TemporaryDirectory() as folder:
                paths = [Path(folder, name) for name in ("old.json", "new.json", "wanted.toml")]
                for path, content in zip(paths, [json.dumps(DOCUMENT), json.dumps(edited(DOCUMENT, edits)), text]):
                    path.write_text(content, encoding="utf-8")
                program = [sys.executable, str(Path(__file__).with_name("main.py")), *map(str, paths)]
                run = subprocess.run(program, capture_output=True, text=True, check=False)
            self.assertEqual(run.returncode, status, run)
            for words in told:
                self.assertIn(words, run.stdout + run.stderr)


class OwnDocument(unittest.TestCase):
    """The document of this service, in which each set of values of an answer is closed or open."""

    def test_a_closed_set_with_a_further_value_fails_and_an_open_one_passes(self):
        document = json.loads(Path(__file__).parents[2].joinpath("functions/docs/openapi.json").read_text(encoding="utf-8"))
        closed, grows = (f"{SCHEMAS} {name} properties" for name in ("Candidate", "Change"))
        for edits, status in [
            ({f"{closed} status enum 8": "withdrawn"}, 1),
            ({f"{grows} reason x-extensible-enum 5": "forgotten"}, 0),
        ]:
            with tempfile.TemporaryDirectory() as folder:
                paths = [Path(folder, name) for name in ("old.json", "new.json", "wanted.toml")]
                for path, content in zip(paths, [json.dumps(document), json.dumps(edited(document, edits)), ""]):
                    path.write_text(content, encoding="utf-8")
                with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
                    self.assertEqual(main.main(*map(str, paths)), status, edits)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[1:]])

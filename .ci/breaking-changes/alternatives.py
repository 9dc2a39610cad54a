"""Schemas as lists of alternatives: one for each JSON type and branch, without references and choices.

Two ways to write the same schema, such as `"type": ["string", "null"]` and a choice between a string and null, so become the same
list.
"""

from dataclasses import dataclass, field

UPPER_LIMITS = ("maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties")
LOWER_LIMITS = ("minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties")
# Keywords whose values can only be compared as a whole.
FORMS = ("pattern", "format", "contentMediaType", "contentEncoding", "multipleOf", "uniqueItems", "contains")
# Keywords that change no values.
NOTES = ("description", "title", "examples", "example", "$comment", "externalDocs")
# Keywords that are about values of one type, or of any.
ABOUT = {
    "string": {"maxLength", "minLength", "pattern", "format", "contentMediaType", "contentEncoding"},
    "number": {"maximum", "exclusiveMaximum", "minimum", "exclusiveMinimum", "multipleOf", "format"},
    "array": {"items", "contains", "maxItems", "minItems", "uniqueItems"},
    "object": {"properties", "required", "additionalProperties", "propertyNames", "maxProperties", "minProperties"},
    "any": {"enum", "x-extensible-enum", "default", "deprecated"},
}
KNOWN = {"$ref", "allOf", "anyOf", "oneOf", "type", "const", *NOTES}.union(*ABOUT.values())


@dataclass
class Alternative:
    """What one JSON type may look like."""

    type: str | None
    """None for any type."""
    keywords: dict
    name: str | None = field(default=None)
    """The named schema that it comes from."""

    @property
    def values(self):
        return self.keywords.get("enum")


class Unreadable(Exception):
    """Two parts of a schema contradict each other in a way that this program cannot put together."""


def resolve(node, document):
    """The object that a reference leads to."""
    while isinstance(node, dict) and set(node) & {"$ref"} and "type" not in node:
        target = document
        for key in node["$ref"].removeprefix("#/").split("/"):
            target = target[key.replace("~1", "/").replace("~0", "~")]
        node = target
    return node


def type_of(value):
    """The JSON type of a value."""
    kinds = {bool: "boolean", int: "integer", float: "number", str: "string", list: "array", dict: "object"}
    return "null" if value is None else kinds[type(value)]


def alternatives(schema, document):
    """The alternatives of a schema of the document."""
    return [alternative for part in branches(schema, document) for alternative in by_type(part)]


def branches(schema, document):
    """The branches of a schema: their keywords, and the name of the schema that they come from."""
    if isinstance(schema, bool):
        return [({}, None)] if schema else []
    own = {key: value for key, value in schema.items() if key not in {"$ref", "allOf", "anyOf", "oneOf", *NOTES}}
    if "const" in own:
        own["enum"] = [own.pop("const")]
    found = [(own, None)]
    parts = [branches(part, document) for part in schema.get("allOf", ())]
    for choice in ("anyOf", "oneOf"):
        if choice in schema:
            parts.append([branch for one in schema[choice] for branch in branches(one, document)])
    if "$ref" in schema:
        target = branches(resolve({"$ref": schema["$ref"]}, document), document)
        name = schema["$ref"].rsplit("/", 1)[1]
        parts.append([(keywords, inner or name) for keywords, inner in target])
    for part in parts:
        found = [(merge(one, other), a or b) for one, a in found for other, b in part]
    return found


def merge(one, other):
    """The keywords of values that fit both."""
    merged = one | other
    for key in one.keys() & other.keys():
        if key == "properties":
            merged[key] = one[key] | other[key]
        elif key == "required":
            merged[key] = [*one[key], *other[key]]
        elif one[key] != other[key]:
            raise Unreadable(f"{key} twice: {one[key]} and {other[key]}")
    return merged


def by_type(branch):
    """The alternatives of a branch: one for each of its types."""
    keywords, name = branch
    values = keywords.get("enum")
    types = keywords.get("type")
    if types is None:
        types = [None] if values is None else sorted({type_of(value) for value in values})
    for kind in [types] if isinstance(types, str) else types:
        about = set(keywords) if kind is None else ABOUT["any"] | ABOUT.get("number" if kind == "integer" else kind, set())
        own = {key: value for key, value in keywords.items() if key in about}
        if values is not None and kind != "null":
            own["enum"] = [value for value in values if fits(type_of(value), kind)]
            if not own["enum"]:
                continue
        elif values is not None:
            # Null is the only value of its type.
            del own["enum"]
            if None not in values:
                continue
        yield Alternative(kind, own, name)


def fits(one, other):
    """Whether values of a type are values of the other, where None is any type."""
    return other is None or one == other or (one, other) == ("integer", "number")

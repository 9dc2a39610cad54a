"""Compares two schemas."""

import json
import re

from alternatives import (
    FORMS,
    KNOWN,
    LOWER_LIMITS,
    UPPER_LIMITS,
    alternatives,
    fits,
    type_of,
)
from rules import Finding

REQUEST, RESPONSE = "request", "response"


class Schemas:
    """Compares schemas of an old document with those of a new one."""

    def __init__(self, old, new):
        self.documents = (old, new)
        self.known = {}

    def compare(self, old, new, direction, place):
        """The findings about a schema that clients send or receive. Those within a named schema are placed at its name."""
        olds, news = (alternatives(schema, document) for schema, document in zip((old, new), self.documents))
        found = set()
        inner, outer = (olds, news) if direction == REQUEST else (news, olds)
        for one in inner:
            found |= self.covered(one, inner, outer, direction, place)
        if direction == REQUEST:
            for one in news:
                if not any(fits(one.type, other.type) for other in olds):
                    found.add(Finding(place, "request-type-added", str(one.type)))
        return found

    def covered(self, one, inner, outer, direction, place):
        """The findings about an alternative that one of the outer ones must cover."""
        candidates = [other for other in outer if fits(one.type, other.type)]
        if not candidates:
            rule = "request-type-removed" if direction == REQUEST else "response-type-added"
            return {Finding(place, rule, str(one.type))}
        candidates = [other for other in candidates if other.name and other.name == one.name] or candidates
        results = [self.pair(one, other, direction, place) for other in candidates]
        best = min(results, key=lambda result: sum(finding.breaks for finding in result))
        is_only = len(candidates) == 1 and (
            (one.name and one.name == candidates[0].name) or sum(other.type == one.type for other in inner) == 1
        )
        if is_only or not any(finding.breaks for finding in best):
            return best
        rule = "request-alternative-removed" if direction == REQUEST else "response-alternative-added"
        return {Finding(place, rule, one.name or describe(one))}

    def pair(self, one, other, direction, place):
        old, new = (one, other) if direction == REQUEST else (other, one)
        if old.name and old.name == new.name:
            place = f"{old.name} ({direction})"
        key = json.dumps([old.keywords, new.keywords, direction, place], sort_keys=True)
        if key not in self.known:
            # For schemas that hold themselves.
            self.known[key] = set()
            self.known[key] = self.alternative(old.keywords, new.keywords, direction, place)
        return self.known[key]

    def alternative(self, old, new, direction, place):
        found = set()
        compare_values(old, new, direction, place, found)
        if "enum" not in old or "enum" not in new:
            compare_limits(old, new, direction, place, found)
            compare_forms(old, new, direction, place, found)
        if direction == REQUEST and "default" in old and old["default"] != new.get("default"):
            found.add(Finding(place, "request-default-changed", f"{old['default']!r}, now {new.get('default')!r}"))
        if new.get("deprecated") and not old.get("deprecated"):
            found.add(Finding(place, "field-deprecated"))
        self.compare_fields(old, new, direction, place, found)
        self.compare_other_fields(old, new, direction, place, found)
        if "items" in old or "items" in new:
            found |= self.compare(old.get("items", True), new.get("items", True), direction, f"{place}[]")
        return found

    def compare_fields(self, old, new, direction, place, found):
        had, has = old.get("properties", {}), new.get("properties", {})
        needed, needs = set(old.get("required", ())), set(new.get("required", ()))
        for name in had:
            field = f"{place}.{name}"
            if name not in has:
                found.add(Finding(field, f"{direction}-field-removed"))
                continue
            found |= self.compare(had[name], has[name], direction, field)
            if direction == RESPONSE and name in needed - needs:
                found.add(Finding(field, "response-field-optional"))
            if direction == REQUEST and name in needed - needs:
                found.add(Finding(field, "request-field-optional"))
        for name in has.keys() - had.keys() - (needs if direction == REQUEST else set()):
            found.add(Finding(f"{place}.{name}", f"{direction}-field-added"))
        if direction == REQUEST:
            found |= {Finding(f"{place}.{name}", "request-field-required") for name in needs - needed}

    def compare_other_fields(self, old, new, direction, place, found):
        """Fields without a name of their own, and the names that they may have."""
        inner, outer = (old, new) if direction == REQUEST else (new, old)
        one, other = inner.get("additionalProperties", True), outer.get("additionalProperties", True)
        rule = "request-other-fields-narrowed" if direction == REQUEST else "response-other-fields-widened"
        if one is not False and (other is False or (one is True and other is not True)):
            # Responses with new fields are additions, unless the other fields are promised to be alike or not to be.
            found.add(Finding(place, rule))
        elif isinstance(one, dict) and isinstance(other, dict):
            found |= self.compare(old["additionalProperties"], new["additionalProperties"], direction, f"{place}.*")
        if "propertyNames" in outer:
            names = (part.get("propertyNames", {"type": "string"}) for part in (old, new))
            found |= self.compare(*names, direction, f"{place}.* (name)")


def describe(alternative):
    return " ".join(filter(None, [alternative.type, json.dumps(alternative.values) if alternative.values else ""]))


def compare_values(old, new, direction, place, found):
    had, has = old.get("enum"), new.get("enum")
    added = [value for value in has or () if value not in (had or ())]
    if direction == REQUEST:
        if had is None:
            if has is not None:
                found.add(Finding(place, "request-values-limited", json.dumps(has)))
            return
        lost = [value for value in had if (value not in has if has is not None else not is_accepted(value, old, new))]
        found |= {Finding(place, "request-value-removed", json.dumps(value)) for value in lost}
        found |= {Finding(place, "request-value-added", json.dumps(value)) for value in added}
    elif had is not None:
        if has is None:
            found.add(Finding(place, "response-values-opened"))
            return
        found |= {Finding(place, "response-closed-set-extended", json.dumps(value)) for value in added}
    elif "x-extensible-enum" in old:
        known = [value for value in new.get("x-extensible-enum", ()) if value not in old["x-extensible-enum"]]
        found |= {Finding(place, "response-value-added", json.dumps(value)) for value in known}


def is_accepted(value, old, new):
    """Whether a value that was listed is accepted where no values are listed any more."""
    size = len(value) if type_of(value) in ("string", "array", "object") else value
    if any(key in new and size > new[key] for key in UPPER_LIMITS):
        return False
    if any(key in new and size < new[key] for key in LOWER_LIMITS):
        return False
    if "pattern" in new and not re.search(new["pattern"], value):
        return False
    return all(new.get(key) in (None, old.get(key)) for key in FORMS if key != "pattern")


def compare_limits(old, new, direction, place, found):
    if "enum" in old:
        # `is_accepted` has compared each value.
        return
    for key in (*UPPER_LIMITS, *LOWER_LIMITS):
        had, has = old.get(key), new.get(key)
        if key in ("minLength", "minItems", "minProperties"):
            had, has = had or None, has or None
        if had == has:
            continue
        is_narrower = had is None or (has is not None and (has < had if key in UPPER_LIMITS else has > had))
        detail = f"{key} {had}, now {has}"
        if direction == REQUEST:
            found.add(Finding(place, f"request-limit-{'narrowed' if is_narrower else 'relaxed'}", detail))
        elif not is_narrower and "enum" not in new:
            found.add(Finding(place, "response-limit-relaxed", detail))


def compare_forms(old, new, direction, place, found):
    if "enum" in old:
        return
    for key in FORMS:
        had, has = old.get(key), new.get(key)
        if had == has:
            continue
        detail = f"{key} {had}, now {has}"
        if direction == REQUEST:
            found.add(Finding(place, "request-form-widened" if has is None else "request-form-narrowed", detail))
        elif had is not None and "enum" not in new:
            found.add(Finding(place, "response-form-widened", detail))


def unknown_keywords(schema, place):
    """The findings about keywords that this program does not know, in a schema and those in it."""
    if isinstance(schema, bool):
        return
    for key in schema.keys() - KNOWN:
        yield Finding(place, "unknown-keyword", key)
    for name, of in schema.get("properties", {}).items():
        yield from unknown_keywords(of, f"{place}.{name}")
    for key in ("additionalProperties", "propertyNames", "items"):
        yield from unknown_keywords(schema.get(key, True), f"{place}.{key}")
    for key in ("allOf", "anyOf", "oneOf"):
        for of in schema.get(key, ()):
            yield from unknown_keywords(of, place)

"""Compares two documents: operations, parameters, bodies, responses and webhooks."""

from alternatives import resolve
from rules import Finding
from schemas import REQUEST, RESPONSE, Schemas, unknown_keywords

METHODS = ("get", "put", "post", "delete", "options", "head", "patch", "trace")
# The keywords of each kind of object that are compared, or that change nothing for clients.
KNOWN = {
    "document": {"openapi", "info", "servers", "tags", "paths", "webhooks", "components", "security", "externalDocs"},
    "path": {"summary", "description", "parameters", *METHODS},
    "operation": {
        *("operationId", "summary", "description", "tags", "deprecated", "security", "externalDocs"),
        *("parameters", "requestBody", "responses"),
    },
    "parameter": {
        *("name", "in", "required", "schema", "style", "explode"),
        *("description", "deprecated", "example", "examples", "allowReserved"),
    },
    "body": {"required", "content", "description"},
    "media type": {"schema", "example", "examples"},
    "response": {"description", "headers", "content"},
    "header": {"required", "schema", "description", "example", "examples", "deprecated"},
}
STYLES = {"query": "form", "cookie": "form", "path": "simple", "header": "simple"}


def compare(old, new):
    """All findings about two documents, in order."""
    return sorted(Documents(old, new).findings())


def operations(document, section):
    """The operations of a section, each with its method and path as in `GET /labels/`, and the parameters of its path."""
    for path, item in document.get(section, {}).items():
        for method in METHODS:
            if method in item:
                yield f"{method.upper()} {path}", item[method] | {
                    "parameters": [*item.get("parameters", ()), *item[method].get("parameters", ())]
                }


def parameters_of(operation, document):
    """The parameters by their place and name. Names of headers are compared in lower case."""
    found = {}
    for parameter in operation["parameters"]:
        parameter = resolve(parameter, document)
        name = parameter["name"].lower() if parameter["in"] == "header" else parameter["name"]
        found[parameter["in"], name] = parameter
    return found


class Documents:
    def __init__(self, old, new):
        self.old, self.new = old, new
        self.schemas = Schemas(old, new)
        self.found = set()

    def add(self, place, rule, detail=""):
        self.found.add(Finding(place, rule, detail))

    def findings(self):
        self.unknown("document", self.new, "document")
        if [one["url"] for one in self.old.get("servers", ())] != [one["url"] for one in self.new.get("servers", ())]:
            self.add("servers", "server-changed")
        self.components()
        old, new = (dict(operations(document, "paths")) for document in (self.old, self.new))
        for place in old.keys() - new.keys():
            self.add(place, "operation-removed")
        for place in new.keys() - old.keys():
            self.add(place, "operation-added")
        for place in old.keys() & new.keys():
            self.operation(old[place], new[place], place)
        self.webhooks()
        for path, item in [*self.new.get("paths", {}).items(), *self.new.get("webhooks", {}).items()]:
            self.unknown("path", item, path)
        for place, operation in [*new.items(), *operations(self.new, "webhooks")]:
            self.unknown_in_operation(operation, place)
        return self.found

    def components(self):
        old, new = (document.get("components", {}) for document in (self.old, self.new))
        for name in old.get("schemas", {}).keys() - new.get("schemas", {}).keys():
            self.add(name, "schema-removed")
        for name, schema in new.get("schemas", {}).items():
            self.found.update(unknown_keywords(schema, name))
        had, has = old.get("securitySchemes", {}), new.get("securitySchemes", {})
        for name in had.keys() & has.keys():
            one, other = ({k: v for k, v in of[name].items() if k != "description"} for of in (had, has))
            if one != other:
                self.add(name, "security-scheme-changed")

    def operation(self, old, new, place):
        if old.get("operationId") != new.get("operationId"):
            self.add(place, "operation-renamed", f"{old.get('operationId')}, now {new.get('operationId')}")
        if old.get("tags") != new.get("tags"):
            self.add(place, "operation-regrouped", f"{old.get('tags')}, now {new.get('tags')}")
        if new.get("deprecated") and not old.get("deprecated"):
            self.add(place, "operation-deprecated")
        self.security(old, new, place)
        self.parameters(old, new, place)
        self.body(old, new, place)
        self.responses(old, new, place)

    def security(self, old, new, place):
        had, has = (
            {frozenset(one) for one in of.get("security", document.get("security")) or [{}]}
            for of, document in ((old, self.old), (new, self.new))
        )
        for one in had - has if frozenset() not in has else ():
            self.add(place, "security-added", "without credentials" if not one else " and ".join(sorted(one)))
        for one in has - had if frozenset() not in had else ():
            self.add(place, "security-extended", "without credentials" if not one else " and ".join(sorted(one)))

    def parameters(self, old, new, place):
        had, has = parameters_of(old, self.old), parameters_of(new, self.new)
        for (where, name), parameter in had.items():
            at = f"{place} ?{name}" if where == "query" else f"{place} {where} {name}"
            if (where, name) in has:
                self.parameter(where, parameter, has[where, name], at)
            elif any(other == name for _, other in has.keys() - had.keys()):
                self.add(at, "parameter-moved")
            else:
                self.add(at, "parameter-removed")
        for where, name in has.keys() - had.keys():
            at = f"{place} ?{name}" if where == "query" else f"{place} {where} {name}"
            if any(other == name for _, other in had.keys() - has.keys()):
                continue
            self.add(at, "parameter-required" if has[where, name].get("required") else "parameter-added")

    def parameter(self, where, old, new, place):
        if new.get("required") and not old.get("required"):
            self.add(place, "parameter-required")
        if old.get("required") and not new.get("required"):
            self.add(place, "parameter-optional")
        styles = []
        for parameter in (old, new):
            style = parameter.get("style", STYLES[where])
            styles.append((style, parameter.get("explode", style == "form")))
        if styles[0] != styles[1]:
            self.add(place, "parameter-style-changed")
        self.found |= self.schemas.compare(old.get("schema", True), new.get("schema", True), REQUEST, place)

    def body(self, old, new, place):
        had, has = (
            resolve(of.get("requestBody"), document) for of, document in ((old, self.old), (new, self.new))
        )
        if had is None:
            if has is not None:
                self.add(place, "request-body-required" if has.get("required") else "request-body-added")
            return
        if has is None:
            self.add(place, "request-body-removed")
            return
        if has.get("required") and not had.get("required"):
            self.add(place, "request-body-required")
        if had.get("required") and not has.get("required"):
            self.add(place, "request-body-optional")
        self.content(had, has, REQUEST, f"{place} body")

    def content(self, old, new, direction, place):
        had, has = old.get("content", {}), new.get("content", {})
        for media in had.keys() - has.keys():
            self.add(place, f"{direction}-media-type-removed", media)
        for media in has.keys() - had.keys():
            self.add(place, f"{direction}-media-type-added", media)
        for media in had.keys() & has.keys():
            at = place if media == "application/json" else f"{place} ({media})"
            schemas = (of[media].get("schema", True) for of in (had, has))
            self.found |= self.schemas.compare(*schemas, direction, at)

    def responses(self, old, new, place):
        had, has = (
            {status: resolve(response, document) for status, response in of["responses"].items()}
            for of, document in ((old, self.old), (new, self.new))
        )
        for status in had.keys() - has.keys():
            # An error that no longer comes breaks nothing.
            if status[0] in "23":
                self.add(place, "response-status-removed", status)
        for status in has.keys() - had.keys():
            rule = "response-status-added" if status[0] in "23" else "response-status-added-for-errors"
            self.add(place, rule, status)
        for status in had.keys() & has.keys():
            at = f"{place} {status}"
            self.content(had[status], has[status], RESPONSE, at)
            self.headers(had[status], has[status], at)

    def headers(self, old, new, place):
        had, has = (
            {name.lower(): resolve(header, document) for name, header in of.get("headers", {}).items()}
            for of, document in ((old, self.old), (new, self.new))
        )
        for name in had.keys() - has.keys():
            self.add(place, "response-header-removed", name)
        for name in has.keys() - had.keys():
            self.add(place, "response-header-added", name)
        for name in had.keys() & has.keys():
            if had[name].get("required") and not has[name].get("required"):
                self.add(place, "response-header-optional", name)
            schemas = (header[name].get("schema", True) for header in (had, has))
            self.found |= self.schemas.compare(*schemas, RESPONSE, f"{place} header {name}")

    def webhooks(self):
        old, new = (dict(operations(document, "webhooks")) for document in (self.old, self.new))
        for place in old.keys() - new.keys():
            self.add(f"webhook {place}", "webhook-removed")
        for place in new.keys() - old.keys():
            self.add(f"webhook {place}", "webhook-added")
        for place in old.keys() & new.keys():
            at = f"webhook {place}"
            had, has = parameters_of(old[place], self.old), parameters_of(new[place], self.new)
            for _, name in had.keys() - has.keys():
                self.add(at, "webhook-header-removed", name)
            for key in had.keys() & has.keys():
                schemas = (of[key].get("schema", True) for of in (had, has))
                self.found |= self.schemas.compare(*schemas, RESPONSE, f"{at} header {key[1]}")
            bodies = [
                resolve(of[place].get("requestBody", {}), document) for of, document in ((old, self.old), (new, self.new))
            ]
            self.content(*bodies, RESPONSE, at)

    def unknown(self, kind, thing, place):
        for key in thing.keys() - KNOWN[kind]:
            self.add(place, "unknown-keyword", f"{kind} {key}")

    def unknown_in_operation(self, operation, place):
        self.unknown("operation", operation, place)
        for parameter in parameters_of(operation, self.new).values():
            self.unknown("parameter", parameter, place)
            self.found.update(unknown_keywords(parameter.get("schema", True), f"{place} {parameter['name']}"))
        body = resolve(operation.get("requestBody", {}), self.new)
        self.unknown("body", body, place)
        responses = {status: resolve(one, self.new) for status, one in operation["responses"].items()}
        for status, response in responses.items():
            self.unknown("response", response, f"{place} {status}")
            for name, header in response.get("headers", {}).items():
                header = resolve(header, self.new)
                self.unknown("header", header, f"{place} {status} {name}")
                self.found.update(unknown_keywords(header.get("schema", True), f"{place} {status} {name}"))
        for at, holder in [(f"{place} body", body), *((f"{place} {status}", one) for status, one in responses.items())]:
            for media in holder.get("content", {}).values():
                self.unknown("media type", media, at)
                self.found.update(unknown_keywords(media.get("schema", True), at))

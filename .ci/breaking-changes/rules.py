"""The rules by which two OpenAPI documents are compared.

"Request" is what clients send, so the new document must accept all that the old one accepted. "Response" is what clients receive,
webhooks included, so the new document must show nothing that the old one did not promise.
"""

from dataclasses import dataclass

# What breaks clients, and why.
BREAKS = {
    "server-changed": "the base URL is another one",
    "operation-removed": "an operation is gone",
    "operation-renamed": "the identifier is another one: generated clients name their methods by it",
    "operation-regrouped": "the tag is another one: generated clients name their modules by it",
    "security-added": "a way to authenticate, or to do without, is no longer accepted",
    "security-scheme-changed": "credentials are sent in another way",
    "schema-removed": "a named schema is gone: generated clients name their types by it",
    "parameter-removed": "a parameter is gone: requests with it no longer mean what they did",
    "parameter-moved": "a parameter is expected elsewhere",
    "parameter-required": "requests without this parameter are refused",
    "parameter-style-changed": "values of a parameter are written in another way",
    "request-body-removed": "a body is no longer accepted",
    "request-body-required": "requests without a body are refused",
    "request-media-type-removed": "a media type is no longer accepted",
    "request-field-removed": "a field no longer has an effect",
    "request-field-required": "requests without this field are refused",
    "request-type-removed": "values of this type are refused",
    "request-alternative-removed": "none of the new alternatives accepts all of an old one",
    "request-value-removed": "a value is refused",
    "request-values-limited": "only listed values are accepted",
    "request-limit-narrowed": "a limit is narrower",
    "request-form-narrowed": "values must have a form that they did not need",
    "request-default-changed": "requests without a value mean another one",
    "request-other-fields-narrowed": "fields without a name of their own are refused, or their values are",
    "response-status-removed": "a success that clients expect no longer comes",
    "response-status-added": "a success comes that clients do not expect",
    "response-media-type-removed": "a media type no longer comes",
    "response-header-removed": "a header no longer comes",
    "response-header-optional": "a header may be missing",
    "response-field-removed": "a field no longer comes",
    "response-field-optional": "a field may be missing",
    "response-type-added": "values of a type come that clients do not expect",
    "response-alternative-added": "none of the old alternatives covers a new one",
    "response-closed-set-extended": "an enum has a further value: what may grow is a text with x-extensible-enum",
    "response-values-opened": "values come that no list names",
    "response-limit-relaxed": "values exceed a limit that clients may rely on",
    "response-form-widened": "values no longer have a form that clients may rely on",
    "response-other-fields-widened": "fields without a name of their own come, or have values that clients do not expect",
    "webhook-removed": "a webhook is no longer sent",
    "webhook-header-removed": "a header of a webhook no longer comes",
    "unknown-keyword": "this program does not know the keyword, and so not what it changes: teach it",
}

# What clients need not know of.
ADDITIONS = {
    "operation-added": "a new operation",
    "operation-deprecated": "the operation is deprecated",
    "security-extended": "a new way to authenticate, or to do without",
    "parameter-added": "a new optional parameter",
    "parameter-optional": "the parameter is no longer required",
    "request-body-added": "an optional body",
    "request-body-optional": "the body is no longer required",
    "request-media-type-added": "a new media type",
    "request-field-added": "a new optional field",
    "request-field-optional": "the field is no longer required",
    "request-type-added": "values of a further type are accepted",
    "request-value-added": "a further value is accepted",
    "request-limit-relaxed": "a limit is wider",
    "request-form-widened": "values need no longer have this form",
    "response-status-added-for-errors": "a further status of errors",
    "response-media-type-added": "a new media type",
    "response-header-added": "a new header",
    "response-field-added": "a new field",
    "response-value-added": "a further value of a text that lists its known ones",
    "field-deprecated": "the field is deprecated",
    "webhook-added": "a new webhook",
}


@dataclass(frozen=True, order=True)
class Finding:
    """A difference between two documents."""

    place: str
    rule: str
    detail: str = ""

    @property
    def breaks(self):
        return self.rule in BREAKS

    def __str__(self):
        about = (BREAKS | ADDITIONS)[self.rule]
        return f"{self.place}: {about}{self.detail and f' ({self.detail})'} [{self.rule}]"

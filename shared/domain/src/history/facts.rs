//! The facts that events tell of a resource, with their types: the OpenAPI document describes events by them.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

/// Declares the facts of a kind of resource, under the names that events give them. Each implementation of
/// [`HasHistory`](super::HasHistory) fills them in, so that no event tells a fact without a type.
macro_rules! facts {
    ($(#[$about:meta])+ pub struct $type:ident { $($(#[$meta:meta])+ $name:ident: $of:ty,)+ }) => {
        $(#[$about])+
        #[derive(Debug, schemars::JsonSchema)]
        #[schemars(transform = $crate::history::make_optional)]
        pub struct $type {
            $($(#[$meta])+ pub $name: $of,)+
        }

        impl $type {
            /// The facts as fields of a history.
            pub(crate) fn into_fields(self) -> [(&'static str, $crate::history::FieldValue); [$(stringify!($name)),+].len()] {
                [$((stringify!($name), $crate::history::fact(&self.$name))),+]
            }
        }
    };
}

pub(crate) use facts;

/// Makes all properties of a schema optional: deletions tell no facts, and an erasure removes them from events.
pub(crate) fn make_optional(schema: &mut Schema) {
    schema.remove("required");
}

/// The facts of resources whose events tell none.
#[derive(Debug)]
pub struct NoFacts;

impl JsonSchema for NoFacts {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "NoFacts".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "object", "properties": {} })
    }
}

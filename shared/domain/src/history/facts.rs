//! The facts about a resource that its events carry. The OpenAPI document describes events by these types.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

/// Declares the facts of a kind of resource, under their names in events. Each implementation of
/// [`HasHistory`](super::HasHistory) builds its facts from such a type, so that every fact in an event has a documented type.
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

/// Makes all properties of a schema optional: events of deletions have no facts, and an erasure removes facts from events.
pub(crate) fn make_optional(schema: &mut Schema) {
    schema.remove("required");
}

/// The facts of resources whose events have none.
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

//! JSON Schemas of values that clients see as one string or object.

/// Implements an inline JSON Schema for a type: `inline_schema!(impl[const MAX: usize] Line<MAX> { … })`.
macro_rules! inline_schema {
    (impl[$($generics:tt)*] $type:ty { $($schema:tt)* }) => {
        impl<$($generics)*> schemars::JsonSchema for $type {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($type).into()
            }

            fn inline_schema() -> bool {
                true
            }

            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!({ $($schema)* })
            }
        }
    };
}

pub(crate) use inline_schema;

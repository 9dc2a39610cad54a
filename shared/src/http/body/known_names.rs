//! The names that a body may contain in addition to those that its reader asks for.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use axum::http::Extensions;
use schemars::JsonSchema;
use serde_json::Value;

use crate::error::FieldErrors;
use crate::http::names;
use crate::http::schema::generator;

/// The maximum number of unknown names that one response reports.
const MAX_TOLD: usize = 20;

/// Returns the schema of a view.
pub type ViewSchema = fn() -> Value;

/// Returns the schema of the view `V`.
pub fn schema_of<V: JsonSchema>() -> Value {
    generator().into_root_schema_for::<V>().to_value()
}

/// The view that a route returns or changes. Clients may send back every field of it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Representation {
    schema: Option<ViewSchema>,
    /// The generated schema, made only when a body has a name that its reader does not ask for.
    made: Arc<OnceLock<Value>>,
}

impl Representation {
    pub(crate) fn new(schema: Option<ViewSchema>) -> Self {
        Self { schema, made: Arc::default() }
    }

    pub(in crate::http) fn of(extensions: &Extensions) -> Self {
        extensions.get::<Self>().cloned().unwrap_or_default()
    }

    /// The members of the object at `path`. A list on the path is replaced by its items.
    fn names(&self, path: &[&'static str]) -> BTreeSet<&str> {
        let Some(schema) = self.schema else { return BTreeSet::new() };
        let root = self.made.get_or_init(schema);
        let mut found = Vec::new();
        add_objects(root, root, &mut found);
        for name in path {
            let members: Vec<_> = found.iter().filter_map(|object| object["properties"].get(name)).collect();
            found.clear();
            members.into_iter().for_each(|member| add_objects(root, member, &mut found));
        }
        let members = found.into_iter().filter_map(|object| object["properties"].as_object());
        members.flat_map(|members| members.keys().map(String::as_str)).collect()
    }
}

/// Collects the object schemas that `schema` allows, through references, lists and choices.
fn add_objects<'a>(root: &'a Value, schema: &'a Value, found: &mut Vec<&'a Value>) {
    if schema.get("properties").is_some() {
        found.push(schema);
    }
    if let Some(target) = schema["$ref"].as_str().and_then(|reference| reference.strip_prefix('#'))
        && let Some(schema) = root.pointer(target)
    {
        add_objects(root, schema, found);
    }
    if let Some(items) = schema.get("items") {
        add_objects(root, items, found);
    }
    for choice in ["allOf", "anyOf", "oneOf"] {
        schema[choice].as_array().into_iter().flatten().for_each(|schema| add_objects(root, schema, found));
    }
}

/// The names that an object in a body may contain in addition to those that its reader asks for.
#[derive(Debug, Clone, Default)]
pub(in crate::http) struct KnownNames {
    representation: Representation,
    /// The path from the body to the object.
    path: Vec<&'static str>,
    /// How many unknown names have been reported, over all objects of the body.
    told: Arc<AtomicUsize>,
}

impl KnownNames {
    pub(in crate::http) fn new(representation: Representation) -> Self {
        Self { representation, ..Self::default() }
    }

    /// The known names of the objects in the member `name`.
    pub(in crate::http) fn of_member(&self, name: &'static str) -> Self {
        let path = self.path.iter().copied().chain([name]).collect();
        Self { path, ..self.clone() }
    }

    /// Errors for those `sent` names that the reader has not `asked` for and that the representation lacks.
    pub(in crate::http) fn check<'a>(
        &self,
        sent: impl Iterator<Item = &'a String>,
        asked: &[&'static str],
    ) -> FieldErrors {
        let mut errors = FieldErrors::default();
        let mut unread = sent.filter(|name| !asked.contains(&name.as_str())).peekable();
        if unread.peek().is_none() {
            return errors;
        }
        let shown = self.representation.names(&self.path);
        for name in unread.filter(|name| !shown.contains(name.as_str())) {
            let known = asked.iter().copied().chain(shown.iter().copied());
            let message = names::with_suggestion("There is no such field.".to_owned(), name, known);
            errors.add(&names::shown(name), message);
            // Checked after adding, so that each object reports at least one: an import reports each row's errors separately.
            if self.told.fetch_add(1, Ordering::Relaxed) + 1 >= MAX_TOLD {
                break;
            }
        }
        errors
    }
}

//! The attributes that a read returns. This saves parsing, not capacity: DynamoDB charges for whole items.

use std::collections::HashMap;

/// A projection expression of DynamoDB.
#[derive(Clone, Copy)]
pub(in crate::store) struct ProjectionExpression {
    /// The paths of the attributes; `None` for all.
    paths: Option<&'static str>,
    /// Further paths.
    more: &'static [&'static str],
    /// Placeholders in the paths, each with the reserved name that it stands for.
    reserved: &'static [(&'static str, &'static str)],
}

impl ProjectionExpression {
    pub(in crate::store) const ALL: Self = Self { paths: None, more: &[], reserved: &[] };

    pub(in crate::store) const fn new(
        paths: &'static str,
        reserved: &'static [(&'static str, &'static str)],
    ) -> Self {
        Self { paths: Some(paths), more: &[], reserved }
    }

    /// Adds the attributes at these paths. None of them may have a reserved name.
    pub(in crate::store) const fn with(self, more: &'static [&'static str]) -> Self {
        Self { more, ..self }
    }

    pub(in crate::store) fn expression(&self) -> Option<String> {
        self.paths.map(|paths| [&[paths][..], self.more].concat().join(", "))
    }

    pub(in crate::store) fn names(&self) -> Option<HashMap<String, String>> {
        let names = self.reserved.iter().map(|(placeholder, name)| ((*placeholder).into(), (*name).into()));
        (!self.reserved.is_empty()).then(|| names.collect())
    }
}

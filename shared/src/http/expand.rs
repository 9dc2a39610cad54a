//! The query parameter `expand`: with `?expand=evaluators,labels`, a response contains these resources instead of their URLs.

/// The names in the query parameter `expand`.
#[derive(Debug, Default)]
pub struct ExpandFields(Vec<&'static str>);

impl ExpandFields {
    /// Parses comma-separated lists of names. An error if a name is not among `names`, the resource's expandable references.
    pub(super) fn read<'a>(
        lists: impl Iterator<Item = &'a str>,
        names: &[&'static str],
    ) -> Result<Self, String> {
        let mut wanted = Vec::new();
        for list in lists {
            for text in list.split(',').map(str::trim).filter(|text| !text.is_empty()) {
                let Some(name) = names.iter().find(|name| **name == text) else {
                    return Err(format!("Choose from {}.", names.join(", ")));
                };
                if !wanted.contains(name) {
                    wanted.push(*name);
                }
            }
        }
        Ok(Self(wanted))
    }

    /// Whether the client wants the reference `name` expanded.
    pub fn has(&self, name: &str) -> bool {
        self.0.contains(&name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_may_come_in_one_list_or_in_several() {
        let read = |lists: &[&str]| {
            ExpandFields::read(lists.iter().copied(), &["labels", "roles"]).map(|ExpandFields(names)| names)
        };
        for none in [&[][..], &[""], &[",\u{20},"]] {
            assert!(read(none).unwrap().is_empty(), "{none:?}");
        }
        assert_eq!(read(&["roles, labels"]).unwrap(), ["roles", "labels"]);
        assert_eq!(read(&["roles", "labels,roles"]).unwrap(), ["roles", "labels"]);
        for unknown in [&["videos"][..], &["roles,Labels"], &["roles", "x"]] {
            assert!(read(unknown).is_err(), "{unknown:?}");
        }
    }
}

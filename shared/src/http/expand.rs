//! Which references of an answer a client wants to have replaced by what they lead to: `?expand=evaluators,labels`.

use super::query::QueryParameters;
use crate::error::{Error, Result};

/// The names in the query parameter `expand`.
#[derive(Debug, Default)]
pub struct ExpandFields(Vec<&'static str>);

impl ExpandFields {
    /// Reads the query of a resource whose references of these `names` can be replaced.
    pub fn read(parameters: &QueryParameters, names: &[&'static str]) -> Result<Self> {
        let mut wanted = Vec::new();
        for (_, list) in parameters.iter().filter(|(name, _)| name == "expand") {
            for text in list.split(',').map(str::trim).filter(|text| !text.is_empty()) {
                let Some(name) = names.iter().find(|name| **name == text) else {
                    return Err(Error::field("expand", format!("Choose from {}.", names.join(", "))));
                };
                if !wanted.contains(name) {
                    wanted.push(*name);
                }
            }
        }
        Ok(Self(wanted))
    }

    /// Whether references of this name are to be replaced.
    pub fn has(&self, name: &str) -> bool {
        self.0.contains(&name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_may_come_in_one_list_or_in_several() {
        let parse = |query: &str| {
            let parameters = QueryParameters::parse(Some(query));
            ExpandFields::read(&parameters, &["labels", "roles"]).map(|ExpandFields(names)| names)
        };
        for none in ["", "expand=", "expand=,%20,", "page=1", "Expand=x"] {
            assert!(parse(none).unwrap().is_empty(), "{none}");
        }
        assert_eq!(parse("expand=roles,%20labels").unwrap(), ["roles", "labels"]);
        assert_eq!(parse("expand=roles&page=1&expand=labels,roles").unwrap(), ["roles", "labels"]);
        for unknown in ["expand=videos", "expand=roles,Labels", "expand=roles&expand=x"] {
            assert!(parse(unknown).is_err(), "{unknown}");
        }
    }
}

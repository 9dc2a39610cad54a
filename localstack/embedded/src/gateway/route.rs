//! Route keys of an HTTP API and their precedence.

use std::cmp::Reverse;

use serde_json::{Map, Value};

use crate::Error;

/// A route key such as `ANY /api/v3/whoami/{proxy+}`, or `$default`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RouteKey {
    text: String,
    /// `None` for `$default`.
    pattern: Option<Pattern>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Pattern {
    /// `None` for `ANY`.
    method: Option<String>,
    segments: Vec<Segment>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Segment {
    Literal(String),
    Variable(String),
    Greedy(String),
}

/// The precedence of a route, greater first: exact matches before greedy ones, and these before `$default`; then the
/// route with more leading literal segments; then the route with a method.
type Rank = (Option<(bool, Vec<Reverse<u8>>)>, bool);

impl RouteKey {
    /// Parses a route key.
    ///
    /// # Errors
    /// If API Gateway refuses the key: no method, no path, or `{proxy+}` before the end.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let malformed = |why: &str| Error::new(format!("route key {text:?}: {why}"));
        if text == "$default" {
            return Ok(Self { text: text.to_owned(), pattern: None });
        }
        let (method, path) = text.split_once(' ').ok_or_else(|| malformed("no method before the path"))?;
        let path = path.strip_prefix('/').ok_or_else(|| malformed("the path must begin with a slash"))?;
        let segments: Vec<_> = path.split('/').map(Segment::parse).collect();
        if segments.iter().rev().skip(1).any(|segment| matches!(segment, Segment::Greedy(_))) {
            return Err(malformed("a greedy variable must come last"));
        }
        let method = (method != "ANY").then(|| method.to_owned());
        Ok(Self { text: text.to_owned(), pattern: Some(Pattern { method, segments }) })
    }

    /// The key as in the template.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The path parameters of `path`, not decoded; `None` if method or path does not match.
    pub fn parameters(&self, method: &str, path: &str) -> Option<Map<String, Value>> {
        let Some(pattern) = &self.pattern else { return Some(Map::new()) };
        if pattern.method.as_ref().is_some_and(|expected| expected != method) {
            return None;
        }
        let mut parameters = Map::new();
        let mut rest = Some(path.strip_prefix('/')?);
        for segment in &pattern.segments {
            let (next, after) = match rest?.split_once('/') {
                Some((next, after)) => (next, Some(after)),
                None => (rest?, None),
            };
            match segment {
                Segment::Literal(literal) if literal == next => {}
                Segment::Variable(name) if !next.is_empty() => {
                    parameters.insert(name.clone(), next.into());
                }
                // The rest may be empty: `/x/` matches `/x/{proxy+}`. AWS does not say whether it does; the routes with
                // a final slash are for the case that it does not.
                Segment::Greedy(name) => {
                    parameters.insert(name.clone(), rest?.into());
                    return Some(parameters);
                }
                _ => return None,
            }
            rest = after;
        }
        rest.is_none().then_some(parameters)
    }

    /// The precedence among keys that match the same request; the greatest wins.
    pub(crate) fn rank(&self) -> Rank {
        let Some(pattern) = &self.pattern else { return (None, false) };
        let full = !matches!(pattern.segments.last(), Some(Segment::Greedy(_)));
        let kinds = pattern.segments.iter().map(|segment| match segment {
            Segment::Literal(_) => Reverse(0),
            Segment::Variable(_) => Reverse(1),
            Segment::Greedy(_) => Reverse(2),
        });
        (Some((full, kinds.collect())), pattern.method.is_some())
    }
}

impl Segment {
    fn parse(text: &str) -> Self {
        match text.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')) {
            None => Self::Literal(text.to_owned()),
            Some(name) => match name.strip_suffix('+') {
                Some(name) => Self::Greedy(name.to_owned()),
                None => Self::Variable(name.to_owned()),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(keys: &[&str], method: &str, path: &str) -> Option<String> {
        let keys: Vec<_> = keys.iter().map(|key| RouteKey::parse(key).unwrap()).collect();
        let matching = keys.iter().filter(|key| key.parameters(method, path).is_some());
        matching.max_by_key(|key| key.rank()).map(|key| key.as_str().to_owned())
    }

    #[test]
    fn the_most_specific_route_wins() {
        let keys = [
            "$default",
            "ANY /{proxy+}",
            "GET /pets/{proxy+}",
            "ANY /pets/dog/{proxy+}",
            "GET /pets/dog/{id}",
            "GET /pets/dog/1",
            "ANY /pets/dog/1",
        ];
        for (method, path, expected) in [
            ("GET", "/pets/dog/1", "GET /pets/dog/1"),
            ("PUT", "/pets/dog/1", "ANY /pets/dog/1"),
            ("GET", "/pets/dog/2", "GET /pets/dog/{id}"),
            ("PUT", "/pets/dog/2", "ANY /pets/dog/{proxy+}"),
            ("GET", "/pets/cat/1", "GET /pets/{proxy+}"),
            ("PUT", "/pets/cat/1", "ANY /{proxy+}"),
        ] {
            assert_eq!(chosen(&keys, method, path).as_deref(), Some(expected), "{method} {path}");
        }
    }

    #[test]
    fn a_mount_owns_its_path_with_and_without_a_slash_and_all_paths_below() {
        let keys = [
            "$default",
            "ANY /v3/companies/{companyId}",
            "ANY /v3/companies/{companyId}/{proxy+}",
            "ANY /v3/companies/{companyId}/projects",
            "ANY /v3/companies/{companyId}/projects/{proxy+}",
        ];
        for (path, expected) in [
            ("/v3/companies/acme", keys[1]),
            ("/v3/companies/acme/", keys[2]),
            ("/v3/companies/acme/customers/", keys[2]),
            ("/v3/companies/acme/projects", keys[3]),
            ("/v3/companies/acme/projects/", keys[4]),
            ("/v3/companies/acme/projects/p/", keys[4]),
            ("/v3/companies/acme/projectsx", keys[2]),
            ("/v3/companies//projects", "$default"),
            ("/v3/companies/", "$default"),
            ("/v3", "$default"),
            ("/", "$default"),
        ] {
            assert_eq!(chosen(&keys, "GET", path).as_deref(), Some(expected), "{path}");
        }
    }

    #[test]
    fn a_key_with_a_final_slash_is_exact() {
        let keys = ["ANY /v3/{company}/{proxy+}", "ANY /v3/{company}/", "ANY /v3/{company}"];
        for (path, expected) in
            [("/v3/acme/", keys[1]), ("/v3/acme", keys[2]), ("/v3/acme/x", keys[0]), ("/v3/acme//", keys[0])]
        {
            assert_eq!(chosen(&keys, "GET", path).as_deref(), Some(expected), "{path}");
        }
        assert_eq!(chosen(&keys, "GET", "/v3//"), None);
    }

    #[test]
    fn without_a_default_nothing_may_match() {
        assert_eq!(chosen(&["GET /a"], "GET", "/b"), None);
        assert_eq!(chosen(&["GET /a"], "POST", "/a"), None);
        assert_eq!(chosen(&["GET /a"], "GET", "/a/"), None);
    }

    #[test]
    fn parameters_are_not_decoded() {
        let key = RouteKey::parse("ANY /c/{id}/{proxy+}").unwrap();
        let parameters = key.parameters("GET", "/c/acme%20x/projects/1/").unwrap();
        assert_eq!(
            Value::Object(parameters),
            serde_json::json!({ "id": "acme%20x", "proxy": "projects/1/" })
        );
    }

    #[test]
    fn keys_that_the_service_refuses_are_refused() {
        for key in ["/a", "GET a", "ANY /{proxy+}/x"] {
            assert!(RouteKey::parse(key).is_err(), "{key}");
        }
    }
}

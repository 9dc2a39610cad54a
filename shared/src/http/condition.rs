//! The headers If-Match and If-None-Match.

use axum::http::{HeaderMap, HeaderName};

/// What a request makes its answer depend on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Condition {
    /// That there is something.
    Any,
    /// One of these tags, each with whether it is weak.
    Tags(Vec<(bool, String)>),
}

impl Condition {
    /// The condition in a header, if there is one.
    ///
    /// # Errors
    /// When it is neither `*` nor a list of tags.
    pub(super) fn read(headers: &HeaderMap, name: &HeaderName) -> Result<Option<Self>, ()> {
        let mut tags = Vec::new();
        let mut is_any = false;
        for value in headers.get_all(name) {
            match value.to_str().map_err(|_| ())?.trim() {
                "*" => is_any = true,
                list => read_tags(list, &mut tags)?,
            }
        }
        match (is_any, tags.is_empty()) {
            (true, true) => Ok(Some(Self::Any)),
            (true, false) => Err(()),
            (false, true) => {
                if headers.contains_key(name) {
                    Err(())
                } else {
                    Ok(None)
                }
            }
            (false, false) => Ok(Some(Self::Tags(tags))),
        }
    }

    /// Whether a client has what is shown, by weak comparison.
    pub(super) fn has(&self, digest: &str) -> bool {
        match self {
            Self::Any => true,
            Self::Tags(tags) => tags.iter().any(|(_, tag)| tag.rsplit('-').next() == Some(digest)),
        }
    }

    /// Whether a client has the item in this revision, by strong comparison.
    pub(super) fn is_of(&self, revision: u64) -> bool {
        let is_of = |tag: &str| tag.split_once('-').is_some_and(|(of, _)| of == revision.to_string());
        match self {
            Self::Any => true,
            Self::Tags(tags) => tags.iter().any(|(is_weak, tag)| !is_weak && is_of(tag)),
        }
    }
}

fn read_tags(mut list: &str, tags: &mut Vec<(bool, String)>) -> Result<(), ()> {
    loop {
        let (is_weak, rest) = match list.strip_prefix("W/") {
            Some(rest) => (true, rest),
            None => (false, list),
        };
        let (tag, rest) = rest.strip_prefix('"').and_then(|rest| rest.split_once('"')).ok_or(())?;
        if !tag.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(());
        }
        tags.push((is_weak, tag.to_owned()));
        match rest.trim_start() {
            "" => return Ok(()),
            rest => list = rest.strip_prefix(',').ok_or(())?.trim_start(),
        }
    }
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;
    use axum::http::header::IF_MATCH;

    use super::*;

    fn read(values: &[&str]) -> Result<Option<Condition>, ()> {
        let headers =
            values.iter().map(|value| (IF_MATCH, HeaderValue::from_bytes(value.as_bytes()).unwrap()));
        Condition::read(&headers.collect(), &IF_MATCH)
    }

    #[test]
    fn a_condition_is_a_star_or_tags() {
        let tags = |tags: &[(bool, &str)]| {
            Ok(Some(Condition::Tags(tags.iter().map(|(weak, tag)| (*weak, (*tag).to_owned())).collect())))
        };
        assert_eq!(read(&[]), Ok(None));
        assert_eq!(read(&["*"]), Ok(Some(Condition::Any)));
        assert_eq!(read(&[r#""a""#]), tags(&[(false, "a")]));
        assert_eq!(read(&[r#"W/"a,b" , "c""#, r#""""#]), tags(&[(true, "a,b"), (false, "c"), (false, "")]));
        for bad in [
            &["a"][..],
            &[""],
            &[r#""a"#],
            &[r#""a" "b""#],
            &[r#"w/"a""#],
            &[r#""a","#],
            &["*", r#""a""#],
            &[r#""a b""#],
            &["\"é\""],
        ] {
            assert_eq!(read(bad), Err(()), "{bad:?}");
        }
    }

    #[test]
    fn revisions_are_compared_strongly_and_what_is_shown_weakly() {
        let condition = read(&[r#"W/"12-ab", "7-cd", "ef""#]).unwrap().unwrap();
        assert!(condition.is_of(7) && !condition.is_of(12) && !condition.is_of(1));
        assert!(condition.has("ab") && condition.has("cd") && condition.has("ef") && !condition.has("12"));
        assert!(Condition::Any.is_of(1) && Condition::Any.has("ab"));
    }
}

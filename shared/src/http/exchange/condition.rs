//! The headers `If-Match` and `If-None-Match`.

use axum::Json;
use axum::body::Bytes;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE, ETAG, IF_MATCH, IF_NONE_MATCH};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use axum::response::{IntoResponse, Response};
use serde::Serialize;

use crate::domain::Refusal;
use crate::error::{Error, Result};
use crate::http::exchange::respond::CommittedResponse;
use crate::http::exchange::tag::EntityTag;

const INVALID_IF_MATCH: Refusal = Refusal {
    code: "invalid_if_match",
    detail: "Send `If-Match` as `*`, or as quoted entity tags exactly as `ETag` returned them.",
};

pub(crate) const IF_MATCH_NOT_SUPPORTED: Refusal = Refusal {
    code: "if_match_not_supported",
    detail: "This operation has no `ETag` to compare with. Send the request without `If-Match`.",
};
const IF_NONE_MATCH_NOT_SUPPORTED: Refusal = Refusal {
    code: "if_none_match_not_supported",
    detail: "This operation takes no `If-None-Match`. Send the request without it.",
};
const INVALID_IF_NONE_MATCH: Refusal = Refusal {
    code: "invalid_if_none_match",
    detail: "Send `If-None-Match` as `*`, to create the resource only if there is none. To change it, send `If-Match`.",
};

/// The request's conditions on the resource that its path names. A POST has none: it creates a different resource.
#[derive(Debug, Clone, Default)]
pub struct RequestConditions {
    /// The revisions to which a change may apply.
    if_match: Option<TagCondition>,
    /// For a read, the tags that the client has. For a change, `*` if it may only create the resource.
    if_none_match: Option<TagCondition>,
}

impl RequestConditions {
    /// Parses the headers. Refuses a malformed `If-Match`; ignores a malformed `If-None-Match`, which at worst sends a
    /// body that the client has.
    pub fn of(parts: &Parts) -> Result<Self> {
        match parts.method {
            Method::GET | Method::HEAD => Ok(Self {
                if_none_match: TagCondition::read(&parts.headers, &IF_NONE_MATCH).unwrap_or_default(),
                ..Self::default()
            }),
            // A POST creates a different resource than the one that its path names.
            Method::POST => Ok(Self::default()),
            _ => {
                let if_match = TagCondition::read(&parts.headers, &IF_MATCH);
                let if_match = if_match.map_err(|()| Error::Refused(INVALID_IF_MATCH))?;
                // `refuse_if_none_match` refuses values other than `*`, because it knows whether the operation takes the header.
                let if_none_match = TagCondition::read(&parts.headers, &IF_NONE_MATCH).unwrap_or_default();
                Ok(Self { if_match, if_none_match })
            }
        }
    }

    /// Refuses a change whose `If-Match` does not match `revision`; `None` if the resource has no revisions.
    pub(crate) fn check(&self, revision: Option<u64>) -> Result<()> {
        match (&self.if_match, revision) {
            (Some(condition), Some(revision)) if !condition.is_of(revision) => Err(Error::PreconditionFailed),
            // Without revisions, the service cannot detect the concurrent changes that the client wants to protect.
            (Some(_), None) => Err(IF_MATCH_NOT_SUPPORTED.into()),
            _ => Ok(()),
        }
    }

    /// Refuses a creation (status 201) if the client sent `If-Match`, and any other change if it sent `If-None-Match: *`.
    // Uses the response, because only the handler knows whether the resource existed. If another request creates or deletes it in
    // the meantime, the transaction fails and the handler runs again.
    pub(crate) fn check_outcome(&self, status: StatusCode) -> Result<()> {
        match status == StatusCode::CREATED {
            true if self.if_match.is_some() => Err(Error::NothingMatches),
            false if self.if_none_match == Some(TagCondition::Any) => Err(Error::AlreadyExists),
            _ => Ok(()),
        }
    }

    /// Whether `If-Match` has tags; false for `*`.
    pub(crate) fn names_revisions(&self) -> bool {
        matches!(self.if_match, Some(TagCondition::Tags(_)))
    }

    /// Responds with a view that is the same for all callers: 200, or 304 if the client has it. `caching` is the
    /// `Cache-Control` header.
    pub fn show_to_all<V: Serialize>(
        &self,
        view: &V,
        caching: &'static str,
    ) -> Result<CommittedResponse<Json<V>>> {
        let body = serde_json::to_vec(view).map_err(Error::internal)?;
        let headers = [(CONTENT_TYPE, "application/json"), (CACHE_CONTROL, caching)];
        let headers = headers.map(|(name, value)| (name, HeaderValue::from_static(value)));
        let tag = EntityTag::of(&body);
        self.answer(HeaderMap::from_iter(headers), body.into(), &tag).map(CommittedResponse::new)
    }

    /// Responds with 200 and the body, or with 304 if `If-None-Match` has its tag.
    pub fn answer(&self, mut headers: HeaderMap, body: Bytes, tag: &EntityTag) -> Result<Response> {
        headers.insert(ETAG, tag.value()?);
        if !self.if_none_match.as_ref().is_some_and(|condition| condition.has(tag.digest())) {
            return Ok((headers, body).into_response());
        }
        headers.remove(CONTENT_TYPE);
        Ok((StatusCode::NOT_MODIFIED, headers).into_response())
    }
}

/// Refuses an `If-None-Match` on a change unless it is `*` and the operation `may_create` the resource at its path.
pub(in crate::http) fn refuse_if_none_match(headers: &HeaderMap, may_create: bool) -> Result<()> {
    match TagCondition::read(headers, &IF_NONE_MATCH) {
        Ok(None) => Ok(()),
        Ok(Some(TagCondition::Any)) if may_create => Ok(()),
        _ if may_create => Err(INVALID_IF_NONE_MATCH.into()),
        _ => Err(IF_NONE_MATCH_NOT_SUPPORTED.into()),
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum TagCondition {
    /// `*`.
    Any,
    /// Any of these tags; the flag says whether a tag is weak.
    Tags(Vec<(bool, String)>),
}

impl TagCondition {
    /// Parses the header; `None` if it is absent, an error if it is neither `*` nor a list of tags.
    fn read(headers: &HeaderMap, name: &HeaderName) -> Result<Option<Self>, ()> {
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
            (false, false) => Ok(Some(Self::Tags(tags))),
            (false, true) if !headers.contains_key(name) => Ok(None),
            _ => Err(()),
        }
    }

    /// Whether a tag has this digest, by weak comparison.
    fn has(&self, digest: &str) -> bool {
        match self {
            Self::Any => true,
            Self::Tags(tags) => tags.iter().any(|(_, tag)| tag.rsplit('-').next() == Some(digest)),
        }
    }

    /// Whether a tag has this revision, by strong comparison.
    fn is_of(&self, revision: u64) -> bool {
        let is_of = |tag: &str| tag.split_once('-').is_some_and(|(of, _)| of == revision.to_string());
        match self {
            Self::Any => true,
            // RFC 9110 lets `If-Match` accept strong tags only.
            Self::Tags(tags) => tags.iter().any(|(is_weak, tag)| !is_weak && is_of(tag)),
        }
    }
}

/// Adds the tags of a list to `tags`. RFC 9110 demands that empty members are ignored.
fn read_tags(list: &str, tags: &mut Vec<(bool, String)>) -> Result<(), ()> {
    let mut rest = list;
    loop {
        rest = rest.trim_start_matches([',', ' ', '\t']);
        if rest.is_empty() {
            return Ok(());
        }
        let (is_weak, quoted) = match rest.strip_prefix("W/") {
            Some(quoted) => (true, quoted),
            None => (false, rest),
        };
        let (tag, after) = quoted.strip_prefix('"').and_then(|text| text.split_once('"')).ok_or(())?;
        let after = after.trim_start();
        // Tags must be separated by commas.
        if !tag.bytes().all(|byte| byte.is_ascii_graphic()) || !(after.is_empty() || after.starts_with(',')) {
            return Err(());
        }
        tags.push((is_weak, tag.to_owned()));
        rest = after;
    }
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    fn read(values: &[&str]) -> Result<Option<TagCondition>, ()> {
        let headers =
            values.iter().map(|value| (IF_MATCH, HeaderValue::from_bytes(value.as_bytes()).unwrap()));
        TagCondition::read(&headers.collect(), &IF_MATCH)
    }

    #[test]
    fn a_condition_is_a_star_or_tags() {
        let tags = |tags: &[(bool, &str)]| {
            Ok(Some(TagCondition::Tags(tags.iter().map(|(weak, tag)| (*weak, (*tag).to_owned())).collect())))
        };
        assert_eq!(read(&[]), Ok(None));
        assert_eq!(read(&["*"]), Ok(Some(TagCondition::Any)));
        assert_eq!(read(&[r#""a""#]), tags(&[(false, "a")]));
        assert_eq!(read(&[r#"W/"a,b" , "c""#, r#""""#]), tags(&[(true, "a,b"), (false, "c"), (false, "")]));
        for list in [
            &[r#""a","b","#][..],
            &[r#","a",,"b" ,"#],
            &[r#" , "a", "#, "", r#"	"b"	"#],
            &[",", r#""a","b""#],
        ] {
            assert_eq!(read(list), tags(&[(false, "a"), (false, "b")]), "{list:?}");
        }
        for bad in [
            &["a"][..],
            &[""],
            &[",", " , "],
            &[r#""a"#],
            &[r#""a" "b""#],
            &[r#""a"b,"#],
            &[r#""a",b"#],
            &[r#"w/"a""#],
            &["*,"],
            &["*", r#""a""#],
            &[r#""a b""#],
            &["\"é\""],
        ] {
            assert_eq!(read(bad), Err(()), "{bad:?}");
        }
    }

    #[test]
    fn revisions_are_compared_strongly_and_digests_weakly() {
        let condition = read(&[r#"W/"12-ab", "7-cd", "ef""#]).unwrap().unwrap();
        assert!(condition.is_of(7) && !condition.is_of(12) && !condition.is_of(1));
        assert!(condition.has("ab") && condition.has("cd") && condition.has("ef") && !condition.has("12"));
        assert!(TagCondition::Any.is_of(1) && TagCondition::Any.has("ab"));
    }
}

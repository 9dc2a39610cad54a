//! Entity tags: `"<revision>-<digest>"`, of the item that a change would overwrite, and of all that the caller is shown.
//!
//! `If-None-Match` compares digests, so a 304 never hides a change, whatever changed: counts, the viewer's rights, other
//! items, or the session for which addresses of files are good. `If-Match` compares revisions, which count the writes
//! that changed what answers show: a write of the service that shows nothing does not fail a client's change.

use axum::body::Body;
use axum::extract::Request;
use axum::http::header::{ETAG, IF_MATCH, IF_NONE_MATCH};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use sha2::{Digest, Sha256};

use super::condition::Condition;
use super::respond::{Kept, Listed};
use super::state::RequestState;
use crate::app::App;
use crate::domain::Refusal;
use crate::error::{Error, Result};

/// What stands before the token in the address of a file: it differs in every answer.
const BEFORE_TOKEN: [&str; 4] = ["/photo/", "/cv/", "/thumb/", "/video/"];
/// The parameter that shows other items in an answer, whose files the item's own version does not tell of.
const EXPAND: &str = "expand";
/// How many bytes of a SHA-256 a tag shows.
const DIGEST_BYTES: usize = 16;

const INVALID_IF_MATCH: Refusal = Refusal {
    code: "invalid_if_match",
    detail: "Send `If-Match` as `*`, or as quoted entity tags exactly as `ETag` returned them.",
};

/// Answers a GET: with a tag unless it is a list, and with 304 to who has what would be shown.
pub(super) async fn read<F>(
    app: &App,
    request: Request,
    handle: impl FnOnce(Request) -> F,
) -> Result<Response>
where
    F: Future<Output = Response>,
{
    // One that cannot be read costs an answer that need not have been sent, and nothing else.
    let condition = Condition::read(request.headers(), &IF_NONE_MATCH).unwrap_or_default();
    let shows_others = query_has(&request, EXPAND);
    let state = RequestState::in_request(&request);
    let response = handle(request).await;
    if response.status() != StatusCode::OK || response.extensions().get::<Listed>().is_some() {
        return Ok(response);
    }
    let (head, body) = response.into_parts();
    let body = axum::body::to_bytes(body, usize::MAX).await.map_err(Error::internal)?;
    let is_bare_list = body.starts_with(b"[");
    let response = Response::from_parts(head, Body::from(body));
    if is_bare_list {
        return Ok(response);
    }
    let revision = state.subject();
    let of_files = revision.filter(|_| !shows_others);
    let (digest, response) = digest(app, response, (of_files, state.viewer())).await?;
    let tag = tag(revision, &digest)?;
    if !condition.is_some_and(|condition| condition.has(&digest)) {
        return Ok(([(ETAG, tag)], response).into_response());
    }
    let (mut head, _) = response.into_parts();
    head.status = StatusCode::NOT_MODIFIED;
    head.headers.remove(header::CONTENT_TYPE);
    head.headers.remove(header::CONTENT_LENGTH);
    head.headers.insert(ETAG, tag);
    Ok(Response::from_parts(head, Body::empty()))
}

/// Answers a PATCH or DELETE: with 412 to who has it otherwise than it is, and with the tag of what it is now.
pub(super) async fn change<F>(
    app: &App,
    request: Request,
    handle: impl FnOnce(Request) -> F,
) -> Result<Response>
where
    F: Future<Output = Response>,
{
    let state = RequestState::in_request(&request);
    let condition = Condition::read(request.headers(), &IF_MATCH);
    let condition = condition.map_err(|()| Error::Refused(INVALID_IF_MATCH))?;
    state.set_condition(condition);
    let response = handle(request).await;
    match state.subject() {
        Some(before) if response.status() == StatusCode::OK => {
            let after = before + u64::from(state.usage().shown_changes() > 0);
            tagged(app, &state, response, after).await
        }
        _ => Ok(response),
    }
}

/// The response with the tag of what it shows, an item in this revision.
pub(super) async fn tagged(
    app: &App,
    state: &RequestState,
    response: Response,
    revision: u64,
) -> Result<Response> {
    let (digest, response) = digest(app, response, (Some(revision), state.viewer())).await?;
    Ok(([(ETAG, tag(Some(revision), &digest)?)], response).into_response())
}

fn tag(revision: Option<u64>, digest: &str) -> Result<HeaderValue> {
    let revision = revision.map(|revision| format!("{revision}-")).unwrap_or_default();
    HeaderValue::from_str(&format!("\"{revision}{digest}\"")).map_err(Error::internal)
}

/// The digest of all that a response shows, but for the tokens in it that differ in every answer: for those stand the
/// `revision` of the item whose files they are of, if it is known, and the session that they are good for.
async fn digest(
    app: &App,
    response: Response,
    (revision, viewer): (Option<u64>, &str),
) -> Result<(String, Response)> {
    let (head, body) = response.into_parts();
    let body = axum::body::to_bytes(body, usize::MAX).await.map_err(Error::internal)?;
    let kept = head.extensions.get::<Kept>().map_or(&body, |Kept(kept)| kept);
    let hash = match (revision, std::str::from_utf8(kept)) {
        (Some(revision), Ok(text)) => hash_of(text, app.config().base_url.as_str(), (revision, viewer)),
        _ => Sha256::digest(kept).into(),
    };
    let digest = hash[..DIGEST_BYTES].iter().map(|byte| format!("{byte:02x}")).collect();
    Ok((digest, Response::from_parts(head, Body::from(body))))
}

fn hash_of(text: &str, base: &str, (revision, viewer): (u64, &str)) -> [u8; 32] {
    let mut hash = Sha256::new();
    let mut rest = text;
    let mut has_files = false;
    let opening = format!("\"{base}/");
    while let Some(start) = rest.find(&opening) {
        let (before, reference) = rest.split_at(start + opening.len());
        hash.update(before);
        let (reference, after) = reference.split_at(reference.find('"').unwrap_or(reference.len()));
        let token = BEFORE_TOKEN.iter().find_map(|name| Some(reference.find(name)? + name.len()));
        has_files |= token.is_some();
        hash.update(&reference[..token.unwrap_or(reference.len())]);
        rest = after;
    }
    hash.update(rest);
    if has_files {
        hash.update(revision.to_be_bytes());
        hash.update(viewer);
    }
    hash.finalize().into()
}

fn query_has(request: &Request, name: &str) -> bool {
    let query = request.uri().query().unwrap_or_default();
    url::form_urlencoded::parse(query.as_bytes()).any(|(key, _)| key == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_do_not_count_and_all_else_does() {
        let hash = |text: &str, revision| hash_of(text, "http://x/v3", (revision, "one"));
        let body = r#"{"a":"1","photo":"http://x/v3/c/photo/TOKEN/","b":"2"}"#;
        assert_eq!(hash(body, 1), hash(&body.replace("TOKEN", "other"), 1));
        assert_ne!(hash(body, 1), hash(body, 2), "another photo may stand behind it");
        for (part, other) in [("\"1\"", "\"3\""), ("\"2\"", "\"3\""), ("/c/", "/d/"), ("photo/", "cv/")] {
            assert_ne!(hash(body, 1), hash(&body.replace(part, other), 1), "{part}");
        }
        assert_ne!(
            hash(body, 1),
            hash_of(body, "http://x/v3", (1, "another")),
            "its addresses are dead here"
        );
        let body = body.replace("http://x/v3", "http://elsewhere");
        assert_eq!(hash(&body, 1), hash(&body, 2));
        assert_ne!(hash(&body, 1), hash(&body.replace("TOKEN", "other"), 1));
    }
}

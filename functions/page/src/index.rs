//! The HTML pages: one for candidates and for staff who follow a link with a key, one for guests, one for staff who
//! watch and judge, and one about accessibility.

use axum::extract::State;
use axum::http::header::{CONTENT_SECURITY_POLICY, REFERRER_POLICY};
use axum::http::{HeaderName, HeaderValue, StatusCode};
use axum::response::Response;
use shared::app::App;
use shared::http::{FileReader, PackedFile};
use shared::media::ObjectStore;
use shared::{Error, Result};

use crate::files::{
    ACCESSIBILITY, ACCESSIBILITY_SCRIPT_HASH, GUEST, GUEST_SCRIPT_HASH, INDEX, INDEX_SCRIPT_HASH, STAFF,
    STAFF_SCRIPT_HASH,
};

const PERMISSIONS_POLICY: HeaderName = HeaderName::from_static("permissions-policy");
const ROBOTS_TAG: HeaderName = HeaderName::from_static("x-robots-tag");

/// GET /register/{key}, /interview/{company}/{key}, /interview/{company}/, /reset-password/{key}, /activate/{key},
/// /confirm-email/{key} and /restore-email/{key}.
pub(crate) async fn show(State(app): State<App>, reader: FileReader) -> Result<Response> {
    let policy = content_policy(&ObjectStore::of(&app)?.origin().await?);
    let mut response = send(&INDEX, &reader, policy)?;
    let devices = HeaderValue::from_static("camera=(self), microphone=(self)");
    response.headers_mut().insert(PERMISSIONS_POLICY, devices);
    Ok(response)
}

/// GET a path of no valid link: the candidate's page with 404, which says what to do.
pub(crate) async fn show_wrong(app: State<App>, reader: FileReader) -> Result<Response> {
    Ok(as_not_found(show(app, reader).await?))
}

/// GET /review/{key}. Does not look up the key: programs that check links in mails open this page too.
pub(crate) async fn show_to_guest(State(app): State<App>, reader: FileReader) -> Result<Response> {
    send_to_viewer(&app, &reader, &GUEST, GUEST_SCRIPT_HASH).await
}

/// GET a path of no valid guest link: the guests' page with 404, which says what to do.
pub(crate) async fn show_wrong_to_guest(app: State<App>, reader: FileReader) -> Result<Response> {
    Ok(as_not_found(show_to_guest(app, reader).await?))
}

/// GET /staff/{company}/, /project/{company}/{project}/, /result/{company}/{project}/{candidate}/, and /sign-in/, which
/// shows why a sign-in was refused. Everyone gets the same page: its script asks the API who the caller is and what
/// they may see.
pub(crate) async fn show_to_staff(State(app): State<App>, reader: FileReader) -> Result<Response> {
    send_to_viewer(&app, &reader, &STAFF, STAFF_SCRIPT_HASH).await
}

/// GET an invalid path of a staff page: the staff's page with 404, which says what to do.
pub(crate) async fn show_wrong_to_staff(app: State<App>, reader: FileReader) -> Result<Response> {
    Ok(as_not_found(show_to_staff(app, reader).await?))
}

/// GET /accessibility/{company}/ and /accessibility/. All companies have the same page, whose script asks the API for
/// the contact.
pub(crate) async fn show_accessibility(State(app): State<App>, reader: FileReader) -> Result<Response> {
    send_to_viewer(&app, &reader, &ACCESSIBILITY, ACCESSIBILITY_SCRIPT_HASH).await
}

/// GET an invalid path of the page about accessibility: that page with 404, as for no company.
pub(crate) async fn show_wrong_accessibility(app: State<App>, reader: FileReader) -> Result<Response> {
    Ok(as_not_found(show_accessibility(app, reader).await?))
}

/// Sends a page that records nothing: it may play recordings of candidates.
async fn send_to_viewer(app: &App, reader: &FileReader, page: &PackedFile, script: &str) -> Result<Response> {
    let policy = viewer_policy(script, &ObjectStore::of(app)?.origin().await?);
    let mut response = send(page, reader, policy)?;
    response.headers_mut().extend([
        (PERMISSIONS_POLICY, HeaderValue::from_static("camera=(), microphone=()")),
        (ROBOTS_TAG, HeaderValue::from_static("noindex")),
    ]);
    Ok(response)
}

/// Sends a page whose URL contains a key or names a candidate, so caches and referrers must not keep it.
fn send(page: &PackedFile, reader: &FileReader, policy: String) -> Result<Response> {
    let policy = HeaderValue::try_from(policy).map_err(Error::internal)?;
    let mut response = page.send(reader, "no-store")?;
    response.headers_mut().extend([
        (CONTENT_SECURITY_POLICY, policy),
        (REFERRER_POLICY, HeaderValue::from_static("no-referrer")),
    ]);
    Ok(response)
}

fn as_not_found(mut response: Response) -> Response {
    // Leave 304 as it is, for clients that have the page.
    if response.status() == StatusCode::OK {
        *response.status_mut() = StatusCode::NOT_FOUND;
    }
    response
}

/// The content security policy of the candidate's page: run and show this service's files, call the API, upload
/// recordings to the bucket and play objects from it. Takes that are played before they are sent are `blob:`. The only
/// inline script is the one that loads the others and retries a file that fails.
fn content_policy(bucket: &str) -> String {
    format!(
        "default-src 'none'; script-src 'self' 'sha256-{INDEX_SCRIPT_HASH}'; style-src 'self'; connect-src 'self' {bucket}; \
         media-src 'self' blob: {bucket}; img-src 'self' blob: data: {bucket}; base-uri 'none'; form-action 'none'; \
         frame-ancestors 'none'; require-trusted-types-for 'script'"
    )
}

/// The policy of the pages of guests and staff: run and show this service's files, call the API and play objects from
/// the bucket.
fn viewer_policy(script: &str, bucket: &str) -> String {
    format!(
        "default-src 'none'; script-src 'self' 'sha256-{script}'; style-src 'self'; connect-src 'self'; \
         media-src 'self' {bucket}; img-src 'self' {bucket}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; \
         require-trusted-types-for 'script'"
    )
}

#[cfg(test)]
mod tests {
    use shared::config::VERSION_PATH;

    const INDEX: &str = include_str!("../assets/index.html");

    #[test]
    fn the_scripts_learn_where_the_api_is() {
        assert!(INDEX.contains(&format!(" data-api=\"{VERSION_PATH}\"")), "{INDEX}");
    }

    #[test]
    fn the_page_names_only_files_of_its_own() {
        for attribute in [" src=\"", " href=\""] {
            for address in INDEX.split(attribute).skip(1) {
                // An empty URL is that of the page itself.
                assert!(address.starts_with("/page/VERSION/") || address.starts_with("\">"), "{address}");
            }
        }
        // The policy blocks all other inline scripts and styles.
        assert_eq!(INDEX.matches("<script").count(), 1, "{INDEX}");
        assert!(!INDEX.contains("<style") && !INDEX.contains("style="), "{INDEX}");
    }
}

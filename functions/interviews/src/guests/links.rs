//! A candidate's guest links, for managers.

use axum::Json;
use chrono::{DateTime, Utc};
use shared::Result;
use shared::auth::access::{Admitted, AnswersTarget, CandidateInterview};
use shared::domain::candidate::{Candidate, GuestLink};
use shared::domain::policy::ChangeProject;
use shared::domain::secret::SecretHash;
use shared::domain::text::ShortName;
use shared::http::BodyFields;
use shared::http::exchange::respond::{CommittedResponse, Created, NoContent, TaggedBy};
use shared::http::iso8601::parse_timestamp;
use shared::http::page::{ListQuery, PageView};
use shared::http::view::GuestLinkView;

use super::view::NewGuestLinkView;

/// GET …/candidates/{candidateId}/guest-links/
pub(crate) async fn list(
    access: Admitted<Candidate, ChangeProject>,
    query: ListQuery,
) -> Result<PageView<GuestLinkView>> {
    let all = access.store.guest_links(&access.target.candidate, access.now).await?;
    let (page, total) = query.slice(all, |link| link.id.to_string());
    let page = page.map(|link| GuestLinkView::new(&link, access.references()));
    query.answer(page, total)
}

/// POST …/candidates/{candidateId}/guest-links/. The only answer that shows the URL.
pub(crate) async fn create(
    access: Admitted<CandidateInterview, ChangeProject>,
    body: BodyFields,
) -> Result<CommittedResponse<TaggedBy<Created<NewGuestLinkView>, GuestLinkView>>> {
    let now = access.now;
    let NewGuestLink { recipient, ends_at, hide_name } = read_new(body, now)?;
    let AnswersTarget { candidate, answers, .. } = &access.target;
    let id = access.store.next_id(now);
    let key = access.new_guest_key(candidate, id);
    let link = GuestLink {
        id,
        company: candidate.company.clone(),
        project: candidate.project,
        candidate: candidate.id,
        recipient: Some(recipient),
        hide_name,
        hash: SecretHash::of(&key),
        media_key: access.guest_media_key(candidate, id, &key).await?,
        created_by: access.caller.principal().creator(),
        ends_at,
        opened_at: None,
        last_opened_at: None,
        withdrawn_at: None,
        requests: None,
    };
    let after = Candidate::clone(candidate).with_guest_link(&link, answers.answered() > 0, now)?;
    let references = access.references();
    let view = Created(NewGuestLinkView::new(&link, &key, references));
    // The `ETag` excludes the URL, because only this response shows it.
    let answer = TaggedBy(view, GuestLinkView::new(&link, references));
    access.commit(access.store.create_guest_link(candidate, after, &link, now), answer).await
}

pub(crate) struct NewGuestLink {
    recipient: ShortName,
    ends_at: DateTime<Utc>,
    hide_name: bool,
}

/// Reads the body that creates a link. Its end is checked against `now`.
pub(crate) fn read_new(mut body: BodyFields, now: DateTime<Utc>) -> Result<NewGuestLink> {
    let recipient = body.required("recipient", ShortName::parse);
    let ends_at = body.text("expires_at", |text| GuestLink::check_end(parse_timestamp(text)?, now));
    let ends_at = ends_at.unwrap_or_else(|| GuestLink::default_end(now));
    let hide_name = body.flag("hide_name").unwrap_or_default();
    body.finish(|| Some(NewGuestLink { recipient: recipient?, ends_at, hide_name }))
}

/// GET …/guest-links/{guestLinkId}/
pub(crate) async fn read(
    access: Admitted<GuestLink, ChangeProject>,
) -> Result<CommittedResponse<Json<GuestLinkView>>> {
    access.show(GuestLinkView::new(&access.target.link, access.references()))
}

/// DELETE …/guest-links/{guestLinkId}/
pub(crate) async fn delete(
    access: Admitted<GuestLink, ChangeProject>,
) -> Result<CommittedResponse<NoContent>> {
    let target = &access.target;
    let writes = access.store.delete_guest_link(&target.candidate, &target.link, access.now);
    access.commit(writes, NoContent).await
}

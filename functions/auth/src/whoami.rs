//! Shows callers their identity and permissions.

use axum::Json;
use shared::Result;
use shared::auth::access::{Admitted, AnyCaller, AnyCandidate, OwnAccount, OwnCandidacy};
use shared::auth::caller::AuthMethod;
use shared::http::QueryParameters;
use shared::http::exchange::respond::CommittedResponse;

use crate::view::{CandidateWhoAmIView, WhoAmIView};

/// GET /whoami/
pub(crate) async fn whoami(
    access: Admitted<OwnAccount, AnyCaller>,
) -> Result<CommittedResponse<Json<WhoAmIView>>> {
    let (session, exchanged_end) = match &access.caller.auth_method {
        AuthMethod::Session(live) => (Some((&live.session, live.ends)), None),
        AuthMethod::ExchangedToken(live) => (None, Some(live.ends_at)),
        AuthMethod::AccessKey | AuthMethod::EndedKey | AuthMethod::NamedToken => (None, None),
    };
    let project = access.target.project.as_deref();
    let keys = access.store.open_access_keys(access.caller.candidate()).await?;
    let view = WhoAmIView::new(&access.caller.identity, project, session, access.references(), keys)?;
    access.show(match exchanged_end {
        Some(end) => view.ending_at(end),
        None => view,
    })
}

/// GET /whoami/candidate/
pub(crate) async fn candidate(
    access: Admitted<OwnCandidacy, AnyCandidate>,
    mut query: QueryParameters,
) -> Result<CommittedResponse<Json<CandidateWhoAmIView>>> {
    let is_opening = query.flag("opened");
    query.finish()?;
    // Only on the client's request: programs that check the links in mails load the page too.
    if is_opening == Some(true) {
        access.note_opening();
    }
    let keys = access.store.open_access_keys(access.caller.candidate()).await?;
    access.show(CandidateWhoAmIView::new(&access, keys))
}

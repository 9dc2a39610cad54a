//! Who is calling.

use axum::Json;
use shared::Result;
use shared::auth::access::{Admitted, AnyCaller, AnyCandidate, OwnAccount, OwnCandidacy};
use shared::auth::caller::AuthMethod;
use shared::http::exchange::respond::CommittedResponse;

use crate::view::{CandidateWhoAmIView, WhoAmIView};

/// GET /whoami/
pub(crate) async fn whoami(
    access: Admitted<OwnAccount, AnyCaller>,
) -> Result<CommittedResponse<Json<WhoAmIView>>> {
    let session = match &access.caller.auth_method {
        AuthMethod::Session(live) => Some((&live.session, live.ends)),
        AuthMethod::AccessKey | AuthMethod::NamedToken => None,
    };
    let project = access.target.project.as_deref();
    let keys = access.store.open_access_keys(access.caller.candidate()).await?;
    access.show(WhoAmIView::new(&access.caller.identity, project, session, access.references(), keys)?)
}

/// GET /whoami/candidate/
pub(crate) async fn candidate(
    access: Admitted<OwnCandidacy, AnyCandidate>,
) -> Result<CommittedResponse<Json<CandidateWhoAmIView>>> {
    let keys = access.store.open_access_keys(access.caller.candidate()).await?;
    access.show(CandidateWhoAmIView::new(&access, keys))
}

//! Who is calling.

use axum::Json;
use shared::Result;
use shared::auth::caller::Proof;
use shared::auth::guard::{AsCandidate, WhoAmI};

use crate::view::{CandidateWhoAmIView, WhoAmIView};

/// GET /whoami/
pub(crate) async fn whoami(guard: WhoAmI) -> Result<Json<WhoAmIView>> {
    let session = match &guard.caller.proof {
        Proof::Session(live) => Some((&live.session, live.ends)),
        Proof::AccessKey | Proof::NamedToken => None,
    };
    let project = guard.project.as_deref();
    WhoAmIView::new(&guard.caller.identity, project, session, guard.references()).map(Json)
}

/// GET /whoami/candidate/
pub(crate) async fn candidate(guard: AsCandidate) -> Json<CandidateWhoAmIView> {
    Json(CandidateWhoAmIView::new(&guard))
}

//! Who is calling.

use axum::Json;
use shared::Result;
use shared::auth::access::{CallerAccess, CandidateSelf};
use shared::auth::caller::Proof;
use shared::http::respond::Answered;

use crate::view::{CandidateWhoAmIView, WhoAmIView};

/// GET /whoami/
pub(crate) async fn whoami(access: CallerAccess) -> Result<Answered<Json<WhoAmIView>>> {
    let session = match &access.caller.proof {
        Proof::Session(live) => Some((&live.session, live.ends)),
        Proof::AccessKey | Proof::NamedToken => None,
    };
    let project = access.project.as_deref();
    access.show(WhoAmIView::new(&access.caller.identity, project, session, access.references())?)
}

/// GET /whoami/candidate/
pub(crate) async fn candidate(access: CandidateSelf) -> Result<Answered<Json<CandidateWhoAmIView>>> {
    access.show(CandidateWhoAmIView::new(&access))
}

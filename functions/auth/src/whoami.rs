//! GET /whoami/.

use axum::Json;
use shared::auth::guard::WhoAmI;

use crate::view::WhoAmIView;

/// Shows the caller to itself.
pub(crate) async fn whoami(WhoAmI(scope): WhoAmI) -> Json<WhoAmIView> {
    let caller = &scope.caller;
    Json(WhoAmIView::new(&caller.customer, &caller.session, caller.session_ends, scope.references()))
}

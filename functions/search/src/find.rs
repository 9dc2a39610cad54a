//! GET /companies/{companyId}/search/.

use axum::Json;
use shared::auth::guard::{Beside, InCompany, Matches};
use shared::auth::policy::Search;

use crate::view::ResultView;

/// GET …/search/?q=…: an array without the envelope of lists.
pub(crate) async fn list(
    Beside(guard, Matches(matches)): Beside<InCompany<Search>, Matches>,
) -> Json<Vec<ResultView>> {
    Json(matches.iter().map(|found| ResultView::new(found, guard.references())).collect())
}

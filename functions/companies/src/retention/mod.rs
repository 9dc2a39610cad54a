//! How long the company keeps candidates, and which candidates are due.

pub(crate) mod due;
pub(crate) mod view;

use axum::Json;
use shared::Result;
use shared::auth::access::{Admitted, AdmittedRequest};
use shared::domain::policy::ManagePrivacy;
use shared::domain::privacy::retention_rule::RetentionRule;
use shared::domain::retention::run::RetentionRun;
use shared::domain::retention::{DEFAULT_NOTICE_DAYS, NOTICE_DAYS, REQUEST_DAYS, RetentionPolicy};
use shared::http::BodyFields;
use shared::http::exchange::respond::{CommittedResponse, NoContent, TaggedBy};

use view::{PolicyView, RetentionView};

pub(crate) struct SetRetention {
    rule: RetentionRule,
    request_days: u32,
    notice_days: u32,
}

impl SetRetention {
    pub(crate) fn read(mut body: BodyFields) -> Result<Self> {
        let rule = body.retention_rule();
        let request_days = body.integer("request_days", *REQUEST_DAYS.start(), *REQUEST_DAYS.end());
        let notice_days = body.integer("notice_days", *NOTICE_DAYS.start(), *NOTICE_DAYS.end());
        body.finish(|| {
            Some(Self {
                rule: rule?,
                request_days: request_days.unwrap_or(*REQUEST_DAYS.end()),
                notice_days: notice_days.unwrap_or(DEFAULT_NOTICE_DAYS),
            })
        })
    }
}

/// A policy and its last run. The `ETag` covers only the policy.
type RetentionAnswer = TaggedBy<Json<RetentionView>, PolicyView>;

fn answer(access: &AdmittedRequest, policy: &RetentionPolicy, run: Option<&RetentionRun>) -> RetentionAnswer {
    let references = access.references();
    TaggedBy(Json(RetentionView::new(policy, run, references)), PolicyView::new(policy, references))
}

/// GET /companies/{companyId}/retention/
pub(crate) async fn read(
    access: Admitted<RetentionPolicy, ManagePrivacy>,
) -> Result<CommittedResponse<RetentionAnswer>> {
    let retention = &access.target.retention;
    access.show_tagged_by(answer(&access, &retention.policy, retention.run.as_deref()))
}

/// PUT …/retention/
pub(crate) async fn replace(
    access: Admitted<RetentionPolicy, ManagePrivacy>,
    body: BodyFields,
) -> Result<CommittedResponse<RetentionAnswer>> {
    let SetRetention { rule, request_days, notice_days } = SetRetention::read(body)?;
    let before = &access.target.retention;
    let scheduled = before.policy.scheduled.replaced_by(rule, access.now);
    let company = access.company_id().clone();
    let after = RetentionPolicy { company, scheduled, request_days, notice_days };
    let first = RetentionRun::first(&access.target.company, access.now);
    let answer = answer(&access, &after, before.run.as_deref().or(Some(&first)));
    access.commit(access.store.set_retention(before, &after, &first), answer).await
}

/// DELETE …/retention/
pub(crate) async fn delete(
    access: Admitted<RetentionPolicy, ManagePrivacy>,
) -> Result<CommittedResponse<NoContent>> {
    access.commit(access.store.delete_retention(&access.target.retention), NoContent).await
}

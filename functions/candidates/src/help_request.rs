//! Candidates' requests for help and the company's answers.

use axum::Json;
use schemars::JsonSchema;
use serde::Serialize;
use shared::auth::access::{Admitted, AdmittedRequest};
use shared::domain::candidate::{Candidate, HelpKind, HelpRequest, HelpText};
use shared::domain::id::CandidateId;
use shared::domain::parse_enum;
use shared::domain::policy::{AskForHelp, ChangeProject};
use shared::domain::project::Project;
use shared::http::exchange::respond::{CommittedResponse, NoContent};
use shared::http::page::{ListQuery, PageView};
use shared::http::view::{CandidateView, HelpRequestView};
use shared::http::wire::{Identifier, Uri};
use shared::http::{BodyFields, example_uri};
use shared::{Error, Result};

use crate::view::view;

/// PUT …/candidates/{candidateId}/help-request/
pub(crate) async fn save(
    access: Admitted<Candidate, AskForHelp>,
    body: BodyFields,
) -> Result<CommittedResponse<Json<HelpRequestView>>> {
    let (kind, text) = read(body)?;
    // A repeat, e.g. because the first response was lost, neither counts towards the limit nor notifies staff again.
    let open = access.target.candidate.open_help_request();
    if let Some(same) = open.filter(|open| open.kind == kind && open.text == text) {
        return access.show(HelpRequestView::from(same));
    }
    let to_change = access.target.to_change(access.now)?;
    let request = HelpRequest::new(kind, text, access.now);
    let shown = Json(HelpRequestView::from(&request));
    let after = to_change.with_help_request(request).map_err(Error::Throttled)?;
    access.commit(access.store.ask_for_help(&access.target.candidate, &after.into(), access.now), shown).await
}

/// Reads the candidate's request.
pub(crate) fn read(mut body: BodyFields) -> Result<(HelpKind, HelpText)> {
    let kind = body.required("kind", parse_enum);
    let text = body.required("text", HelpText::parse);
    body.finish(|| kind.zip(text))
}

/// DELETE …/candidates/{candidateId}/help-request/
pub(crate) async fn delete(access: Admitted<Candidate, AskForHelp>) -> Result<CommittedResponse<NoContent>> {
    let before = &access.target.candidate;
    let after = access.target.to_change(access.now)?.without_help_request().ok_or(Error::NotFound)?;
    access.commit(access.store.change_candidate(before, &after.into(), access.now), NoContent).await
}

/// POST …/candidates/{candidateId}/help-request/answer/
pub(crate) async fn answer(
    access: Admitted<Candidate, ChangeProject>,
    body: BodyFields,
) -> Result<CommittedResponse<Json<CandidateView>>> {
    let text = read_answer(body)?;
    let before = &access.target.candidate;
    let change = Candidate::clone(before).answer_help_request(text, access.now)?;
    let shown = Json(view(&access, &change.candidate).await?);
    access.commit(access.store.change_candidate(before, &change, access.now), shown).await
}

/// Reads the company's answer.
pub(crate) fn read_answer(mut body: BodyFields) -> Result<HelpText> {
    let text = body.required("text", HelpText::parse);
    body.finish(|| text)
}

/// An open request for help, with its candidate.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "OpenHelpRequest")]
pub(crate) struct OpenHelpRequestView {
    #[schemars(example = &"01JQ8ZB4T1H6W5Y7X3Q9E2G0FA")]
    id: Identifier<CandidateId>,
    /// The URL of the candidate.
    #[schemars(example = example_uri::CANDIDATE)]
    candidate: Uri,
    /// The candidate's first name.
    #[schemars(example = &"Ada")]
    first_name: String,
    /// The candidate's last name.
    #[schemars(example = &"Lovelace")]
    last_name: String,
    /// The page where staff answer the request.
    #[schemars(example = example_uri::CANDIDATE_PAGE)]
    interview_suite_url: Uri,
    #[serde(flatten)]
    request: HelpRequestView,
}

impl OpenHelpRequestView {
    /// The view of a candidate's open request; `None` if there is none.
    fn new(candidate: &Candidate, access: &AdmittedRequest) -> Option<Self> {
        let request = candidate.open_help_request()?;
        let Candidate { company, project, id, profile, .. } = candidate;
        let references = access.references();
        Some(Self {
            id: Identifier(*id),
            candidate: references.uri_in_project(company, *project, *id),
            first_name: profile.first_name.to_string(),
            last_name: profile.last_name.to_string(),
            interview_suite_url: references.candidate_page(company, *project, *id),
            request: request.into(),
        })
    }
}

/// GET …/projects/{projectId}/help-requests/
pub(crate) async fn list(
    access: Admitted<Project, ChangeProject>,
    query: ListQuery,
) -> Result<PageView<OpenHelpRequestView>> {
    let project = access.target.project.id;
    let ids = access.store.candidates_asking_for_help(access.company_id(), project).await?;
    let (page, total) = query.slice(ids, ToString::to_string);
    let found = access.store.candidates(access.company_id(), project, page.rows.iter().copied()).await?;
    // Skip requests that were answered after their identifiers were read.
    let page = page.filter_map(|id| OpenHelpRequestView::new(found.get(&id)?, &access));
    query.answer(page, total)
}

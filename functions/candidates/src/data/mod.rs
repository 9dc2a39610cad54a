//! The data document: everything that the service holds about a candidate, over several pages if necessary.

mod answers;
mod evaluation;
mod guests;
mod lists;
mod view;

use axum::Json;
use shared::auth::access::{Admitted, CandidateTarget};
use shared::domain::candidate::{Candidate, GuestLink};
use shared::domain::policy::{CallerRelation, ExportCandidate};
use shared::domain::questionnaire::Questionnaire;
use shared::domain::retention::RetentionPolicy;
use shared::domain::webhook::Webhook;
use shared::http::QueryParameters;
use shared::http::exchange::respond::{CommittedResponse, JsonFile};
use shared::http::page::ResponseBudget;
use shared::store::{AnswerReader, ReferenceIds, ShownAnswers, VersionedItem};
use shared::{Error, Result};

use lists::{DataLists, DataPlace};
use view::{CandidateDataPage, CandidateDataView, DataContinuationView};

/// The query parameter for the position in the document.
const AFTER: &str = "after";

/// The settings that decide who receives a candidate's data and how long they are kept.
struct DataRules {
    webhooks: Vec<VersionedItem<Webhook>>,
    guest_links: Vec<VersionedItem<GuestLink>>,
    policy: RetentionPolicy,
}

type DataAccess = Admitted<Candidate, ExportCandidate>;

/// GET …/candidates/{candidateId}/data/
pub(crate) async fn read(
    access: DataAccess,
    mut query: QueryParameters,
) -> Result<CommittedResponse<JsonFile<CandidateDataPage>>> {
    let CandidateTarget { candidate, project, relation, .. } = &access.target;
    let place = query.filter(AFTER, DataPlace::parse);
    query.finish()?;
    candidate.may_be_exported_by(access.caller.customer(), project).map_err(Error::Forbidden)?;
    let page = match (relation, place) {
        // Candidates get another form of the document: only staff may release texts that staff have written about them.
        (CallerRelation::ThisCandidate, _) => read_own(&access).await?,
        (_, None) => read_document(&access, &query).await?,
        (_, Some(place)) => read_continuation(&access, &query, place).await?,
    };
    let shown: CommittedResponse<Json<_>> = access.show(page)?;
    shown.as_file(&format!("candidate-{}-{}.json", candidate.id, access.now.date_naive()))
}

async fn read_own(access: &DataAccess) -> Result<CandidateDataPage> {
    let (answers, questionnaire) = tokio::try_join!(read_answers(access), read_questionnaire(access))?;
    let view =
        CandidateDataView::new(&access.target, answers.as_ref(), &questionnaire, None, access.references());
    Ok(CandidateDataPage::Document(Box::new(view)))
}

async fn read_document(access: &DataAccess, query: &QueryParameters) -> Result<CandidateDataPage> {
    let mut lists = DataLists::after(DataPlace::default(), access);
    let (answers, rules, questionnaire, ()) = tokio::try_join!(
        read_answers(access),
        read_rules(access),
        read_questionnaire(access),
        lists.begin()
    )?;
    let mut view = CandidateDataView::new(
        &access.target,
        answers.as_ref(),
        &questionnaire,
        Some(&rules),
        access.references(),
    );
    let mut budget = ResponseBudget::default();
    budget.spend(&view)?;
    view.show_lists(lists.read(&questionnaire, query, &mut budget).await?);
    Ok(CandidateDataPage::Document(Box::new(view)))
}

async fn read_continuation(
    access: &DataAccess,
    query: &QueryParameters,
    place: DataPlace,
) -> Result<CandidateDataPage> {
    let mut lists = DataLists::after(place, access);
    let (questionnaire, ()) = tokio::try_join!(read_questionnaire(access), lists.begin())?;
    let lists = lists.read(&questionnaire, query, &mut ResponseBudget::default()).await?;
    Ok(CandidateDataPage::Continuation(DataContinuationView::new(&access.target, lists, access.references())))
}

async fn read_answers(access: &DataAccess) -> Result<Option<ShownAnswers>> {
    let store = &access.store;
    let Candidate { company, project, id, .. } = &*access.target.candidate;
    let Some(stored) = store.answers(company, *project, *id).await? else { return Ok(None) };
    let reader = AnswerReader {
        is_this_candidate: access.target.relation == CallerRelation::ThisCandidate,
        only: None,
    };
    store.shown_answers(&access.target.candidate, &stored, reader, access.now).await.map(Some)
}

async fn read_rules(access: &DataAccess) -> Result<DataRules> {
    let store = &access.store;
    let company = access.company_id();
    let (webhooks, guest_links, policy) = tokio::try_join!(
        store.webhooks(company),
        store.guest_links(&access.target.candidate, access.now),
        store.retention_policy(company)
    )?;
    let policy = policy.as_deref().cloned().unwrap_or_else(|| RetentionPolicy::keep(company.clone()));
    Ok(DataRules { webhooks, guest_links, policy })
}

/// Reads the project's questions and criteria.
async fn read_questionnaire(access: &DataAccess) -> Result<Questionnaire> {
    let company = access.company_id();
    let project = access.target.project.id;
    let mut wanted = ReferenceIds::default();
    wanted.questionnaires.insert(project);
    let found = access.store.referred(company, &wanted).await?.questionnaires.remove(&project);
    Ok(found.as_deref().cloned().unwrap_or_else(|| Questionnaire::new(company.clone(), project)))
}

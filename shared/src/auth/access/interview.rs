//! The questions and criteria of a project as targets, together and one by one.

use super::{AdmittedRequest, AuthenticatedRequest, RequestTarget, UnauthenticatedRequest};
use crate::auth::caller::CallerIdentity;
use crate::domain::id::{CriterionId, Id, InvalidId, QuestionId};
use crate::domain::interview::{Criterion, Interview, InterviewItem, QUESTIONS_IN_USE, Question};
use crate::domain::policy::{Action, CallerRelation};
use crate::domain::project::Project;
use crate::domain::tally::ProjectCounts;
use crate::error::{Error, Result};
use crate::store::{ItemKey, Store, Transaction, VersionedItem};

/// The questions and criteria of a project, and what their change depends on.
pub struct StoredInterview {
    /// The questions and criteria.
    pub interview: Interview,
    /// Their item; none if there is none yet.
    pub item: Option<VersionedItem<Interview>>,
    /// Whether a candidate has begun the interview.
    pub has_begun: bool,
}

impl StoredInterview {
    /// The transaction that changes them to `after`, and the history of their `project`. Fails with [`QUESTIONS_IN_USE`]
    /// if a candidate has begun whom the change would affect.
    pub fn change_to(
        &self,
        store: &Store,
        project: &VersionedItem<Project>,
        after: &Interview,
    ) -> Result<Transaction> {
        // Spares the write. The transaction has the same condition, for a candidate who begins at this moment.
        if self.has_begun && !self.interview.asks_the_same_as(after) {
            return Err(QUESTIONS_IN_USE.into());
        }
        Ok(store.save_interview(project, self.item.as_ref(), after))
    }

    pub(super) fn of(project: &Project, item: Option<VersionedItem<Interview>>, has_begun: bool) -> Self {
        let empty = || Interview::new(project.company.clone(), project.id);
        let interview = item.as_ref().map_or_else(empty, |item| Interview::clone(item));
        Self { interview, item, has_begun }
    }
}

/// The questions and criteria of a project, with the project.
pub struct InterviewTarget {
    /// The project.
    pub project: VersionedItem<Project>,
    /// The counts of its candidates.
    pub counts: ProjectCounts,
    /// Its questions and criteria.
    pub stored: StoredInterview,
    /// What the caller is in the project; candidates who have begun are [`CallerRelation::Own`].
    pub relation: CallerRelation,
}

impl RequestTarget for Interview {
    type Loaded = InterviewTarget;

    fn keys(request: &UnauthenticatedRequest<'_>) -> Vec<Result<ItemKey, InvalidId>> {
        let mut keys = ProjectCounts::keys(request);
        keys.push(request.path.interview());
        keys
    }

    async fn load(mut request: AuthenticatedRequest) -> Result<(AdmittedRequest, InterviewTarget)> {
        let project = request.take::<Project>(request.path.project())?;
        let shards = request.batch.take_shards(&project.company, project.id);
        let stored = StoredInterview::of(&project, request.take_interview()?, shards.have_begun());
        let relation = match &request.caller().identity {
            CallerIdentity::Candidate(own) if own.project == project.id && own.sees_questions() => {
                CallerRelation::Own
            }
            _ => request.caller().in_project(&project.staff),
        };
        let request = match relation {
            // To candidates, nothing else of the project exists.
            CallerRelation::Own => request.authorise(&relation).map_err(|_| Error::NotFound)?,
            _ => request.authorise_reader(Action::ReadProject, &relation)?,
        };
        Ok((request, InterviewTarget { project, counts: shards.tally(), stored, relation }))
    }
}

/// A question with all others of its project.
pub struct QuestionTarget {
    /// The project and its interview.
    pub interview: InterviewTarget,
    /// The question.
    pub question: Question,
}

impl RequestTarget for Question {
    type Loaded = QuestionTarget;

    fn keys(request: &UnauthenticatedRequest<'_>) -> Vec<Result<ItemKey, InvalidId>> {
        Interview::keys(request)
    }

    async fn load(request: AuthenticatedRequest) -> Result<(AdmittedRequest, QuestionTarget)> {
        let id = request.path.id::<QuestionId>("questionId");
        let (request, interview, question) = load_item(request, id).await?;
        Ok((request, QuestionTarget { interview, question }))
    }
}

/// A criterion with all others of its project.
pub struct CriterionTarget {
    /// The project and its interview.
    pub interview: InterviewTarget,
    /// The criterion.
    pub criterion: Criterion,
}

impl RequestTarget for Criterion {
    type Loaded = CriterionTarget;

    fn keys(request: &UnauthenticatedRequest<'_>) -> Vec<Result<ItemKey, InvalidId>> {
        Interview::keys(request)
    }

    async fn load(request: AuthenticatedRequest) -> Result<(AdmittedRequest, CriterionTarget)> {
        let id = request.path.id::<CriterionId>("criterionId");
        let (request, interview, criterion) = load_item(request, id).await?;
        Ok((request, CriterionTarget { interview, criterion }))
    }
}

async fn load_item<P: InterviewItem>(
    request: AuthenticatedRequest,
    id: Result<Id<P::Of>, InvalidId>,
) -> Result<(AdmittedRequest, InterviewTarget, P)> {
    let (request, target) = Interview::load(request).await?;
    let item = id.ok().and_then(|id| target.stored.interview.find::<P>(id).cloned());
    let item = item.ok_or(Error::NotFound)?;
    Ok((request.about_revision(item.revision()), target, item))
}

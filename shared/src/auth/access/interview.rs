//! Guards of the questions and criteria of a project.

use std::marker::PhantomData;

use super::project::CountedProjectAccess;
use super::request::PathIds;
use super::{AdmittedRequest, AuthenticatedRequest, RequestGuard, UnauthenticatedRequest, extract};
use crate::auth::caller::CallerIdentity;
use crate::domain::id::{CriterionId, Id, InvalidId, QuestionId};
use crate::domain::interview::{Criterion, Interview, InterviewItem, QUESTIONS_IN_USE, Question};
use crate::domain::policy::{Action, ActionGrant, CallerRelation};
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

/// A caller who may do `A` with the questions or criteria of the project of the path.
pub struct InterviewAccess<A> {
    /// The project.
    pub project: VersionedItem<Project>,
    /// The counts of its candidates.
    pub tally: ProjectCounts,
    /// Its questions and criteria.
    pub stored: StoredInterview,
    /// What the caller is in the project; candidates who have begun are [`CallerRelation::Own`].
    pub standing: CallerRelation,
    context: AdmittedRequest,
    action: PhantomData<A>,
}

impl<A: ActionGrant> RequestGuard for InterviewAccess<A> {
    fn keys(request: &UnauthenticatedRequest<'_>) -> Vec<Result<ItemKey, InvalidId>> {
        let mut keys = CountedProjectAccess::<A>::keys(request);
        keys.push(request.path.interview());
        keys
    }

    async fn load(mut request: AuthenticatedRequest) -> Result<Self> {
        let project = request.take::<Project>(PathIds::project)?;
        let shards = request.batch.take_shards(&project.company, project.id);
        let (tally, has_begun) = (shards.tally(), shards.have_begun());
        let stored = StoredInterview::of(&project, request.take_interview()?, has_begun);
        let standing = match &request.caller().identity {
            CallerIdentity::Candidate(own) if own.project == project.id && own.sees_questions() => {
                CallerRelation::Own
            }
            _ => request.caller().in_project(&project.staff),
        };
        // To candidates, nothing else of the project exists.
        let read = if standing == CallerRelation::Own { A::ACTION } else { Action::ReadProject };
        let context = request.authorise_reader(read, A::ACTION, &standing)?;
        Ok(Self { project, tally, stored, standing, context, action: PhantomData })
    }
}

impl<A: ActionGrant> InterviewAccess<A> {
    /// Narrows the guard to the part that the path names.
    async fn about<P: InterviewItem>(
        request: AuthenticatedRequest,
        id: Result<Id<P::Of>, InvalidId>,
    ) -> Result<(Self, P)> {
        let access = Self::load(request).await?;
        let part = id.ok().and_then(|id| access.stored.interview.find::<P>(id).cloned());
        let part = part.ok_or(Error::NotFound)?;
        let context = access.context.about_revision(part.revision());
        Ok((Self { context, ..access }, part))
    }
}

/// A caller who may do `A` with the question of the path.
pub struct QuestionAccess<A> {
    /// The project.
    pub project: VersionedItem<Project>,
    /// All questions and criteria of its project.
    pub stored: StoredInterview,
    /// The question.
    pub question: Question,
    /// What the caller is in the project; candidates who have begun are [`CallerRelation::Own`].
    pub standing: CallerRelation,
    context: AdmittedRequest,
    action: PhantomData<A>,
}

impl<A: ActionGrant> RequestGuard for QuestionAccess<A> {
    fn keys(request: &UnauthenticatedRequest<'_>) -> Vec<Result<ItemKey, InvalidId>> {
        InterviewAccess::<A>::keys(request)
    }

    async fn load(request: AuthenticatedRequest) -> Result<Self> {
        let id = request.path.id::<QuestionId>("questionId");
        let (access, question) = InterviewAccess::<A>::about(request, id).await?;
        let InterviewAccess { project, stored, standing, context, action, .. } = access;
        Ok(Self { project, stored, question, standing, context, action })
    }
}

/// A caller who may do `A` with the criterion of the path.
pub struct CriterionAccess<A> {
    /// The project.
    pub project: VersionedItem<Project>,
    /// All questions and criteria of its project.
    pub stored: StoredInterview,
    /// The criterion.
    pub criterion: Criterion,
    context: AdmittedRequest,
    action: PhantomData<A>,
}

impl<A: ActionGrant> RequestGuard for CriterionAccess<A> {
    fn keys(request: &UnauthenticatedRequest<'_>) -> Vec<Result<ItemKey, InvalidId>> {
        InterviewAccess::<A>::keys(request)
    }

    async fn load(request: AuthenticatedRequest) -> Result<Self> {
        let id = request.path.id::<CriterionId>("criterionId");
        let (access, criterion) = InterviewAccess::<A>::about(request, id).await?;
        let InterviewAccess { project, stored, context, action, .. } = access;
        Ok(Self { project, stored, criterion, context, action })
    }
}

extract!(InterviewAccess<A: ActionGrant>);
extract!(QuestionAccess<A: ActionGrant>);
extract!(CriterionAccess<A: ActionGrant>);

//! Guards of the questions and criteria of a project.

use std::marker::PhantomData;

use super::project::CountedProjectAccess;
use super::request::PathIds;
use super::{AdmittedRequest, AuthenticatedRequest, RequestGuard, UnauthenticatedRequest, extract};
use crate::auth::caller::CallerIdentity;
use crate::domain::id::{CriterionId, InvalidId, QuestionId};
use crate::domain::interview::{Criterion, Interview, Question};
use crate::domain::policy::{Action, ActionGrant, CallerRelation};
use crate::domain::project::Project;
use crate::domain::project_counts::ProjectCounts;
use crate::error::{Error, Result};
use crate::store::{ItemKey, VersionedItem};

/// A caller who may do `A` with the questions or criteria of the project of the path.
pub struct InterviewAccess<A> {
    /// The project.
    pub project: VersionedItem<Project>,
    /// The counts of its candidates.
    pub counts: ProjectCounts,
    /// Its questions and criteria.
    pub interview: Interview,
    /// Their item; `None` if there are none yet.
    pub stored: Option<VersionedItem<Interview>>,
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
        let counts = request.batch.take_shards(&project.company, project.id).sum();
        let stored = request.take_interview()?;
        let interview = interview_of(&project, stored.as_ref());
        let standing = match &request.caller().identity {
            CallerIdentity::Candidate(own) if own.project == project.id && own.sees_questions() => {
                CallerRelation::Own
            }
            _ => request.caller().in_project(&project.staff),
        };
        // To candidates, nothing else of the project exists.
        let read = if standing == CallerRelation::Own { A::ACTION } else { Action::ReadProject };
        let context = request.authorise_reader(read, A::ACTION, &standing)?;
        Ok(Self { project, counts, interview, stored, standing, context, action: PhantomData })
    }
}

/// The questions and criteria in the item, which is missing while there are none.
pub(super) fn interview_of(project: &Project, stored: Option<&VersionedItem<Interview>>) -> Interview {
    match stored {
        Some(stored) => Interview::clone(stored),
        None => Interview::new(project.company.clone(), project.id),
    }
}

/// A caller who may do `A` with the question of the path.
pub struct QuestionAccess<A> {
    /// The project.
    pub project: VersionedItem<Project>,
    /// All questions and criteria of its project.
    pub interview: Interview,
    /// The item of the questions and criteria.
    pub stored: Option<VersionedItem<Interview>>,
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
        let InterviewAccess { project, interview, stored, standing, context, action, .. } =
            InterviewAccess::<A>::load(request).await?;
        let question = id.ok().and_then(|id| interview.question(id)).cloned().ok_or(Error::NotFound)?;
        let context = context.about_revision(question.revision);
        Ok(Self { project, interview, stored, question, standing, context, action })
    }
}

/// A caller who may do `A` with the criterion of the path.
pub struct CriterionAccess<A> {
    /// The project.
    pub project: VersionedItem<Project>,
    /// All questions and criteria of its project.
    pub interview: Interview,
    /// The item of the questions and criteria.
    pub stored: Option<VersionedItem<Interview>>,
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
        let InterviewAccess { project, interview, stored, context, action, .. } =
            InterviewAccess::<A>::load(request).await?;
        let criterion = id.ok().and_then(|id| interview.criterion(id)).cloned().ok_or(Error::NotFound)?;
        let context = context.about_revision(criterion.revision);
        Ok(Self { project, interview, stored, criterion, context, action })
    }
}

extract!(InterviewAccess<A: ActionGrant>);
extract!(QuestionAccess<A: ActionGrant>);
extract!(CriterionAccess<A: ActionGrant>);

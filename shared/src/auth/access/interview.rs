//! Guards of the questions and criteria of a project.

use std::marker::PhantomData;

use super::project::CountedProjectAccess;
use super::request::Path;
use super::{Authenticated, Context, Guard, Request, extract};
use crate::auth::caller::Identity;
use crate::domain::id::{CriterionId, Id, InvalidId, QuestionId};
use crate::domain::interview::{Criterion, Interview, Part, QUESTIONS_IN_USE, Question};
use crate::domain::policy::{Action, Grant, Standing};
use crate::domain::project::Project;
use crate::domain::tally::Tally;
use crate::error::{Error, Result};
use crate::store::{Key, Store, Transaction, Versioned};

/// The questions and criteria of a project, and what their change depends on.
pub struct Stored {
    /// The questions and criteria.
    pub interview: Interview,
    /// Their item; none if there is none yet.
    pub item: Option<Versioned<Interview>>,
    /// Whether a candidate has begun the interview.
    pub has_begun: bool,
}

impl Stored {
    /// The transaction that changes them to `after`, and the history of their `project`. Fails with [`QUESTIONS_IN_USE`]
    /// if a candidate has begun whom the change would affect.
    pub fn change_to(
        &self,
        store: &Store,
        project: &Versioned<Project>,
        after: &Interview,
    ) -> Result<Transaction> {
        if self.has_begun && !self.interview.asks_the_same_as(after) {
            return Err(QUESTIONS_IN_USE.into());
        }
        Ok(store.save_interview(project, self.item.as_ref(), after))
    }

    pub(super) fn of(project: &Project, item: Option<Versioned<Interview>>, has_begun: bool) -> Self {
        let empty = || Interview::new(project.company.clone(), project.id);
        let interview = item.as_ref().map_or_else(empty, |item| Interview::clone(item));
        Self { interview, item, has_begun }
    }
}

/// A caller who may do `A` with the questions or criteria of the project of the path.
pub struct InterviewAccess<A> {
    /// The project.
    pub project: Versioned<Project>,
    /// The counts of its candidates.
    pub tally: Tally,
    /// Its questions and criteria.
    pub stored: Stored,
    /// What the caller is in the project; candidates who have begun are [`Standing::Itself`].
    pub standing: Standing,
    context: Context,
    action: PhantomData<A>,
}

impl<A: Grant> Guard for InterviewAccess<A> {
    fn keys(request: &Request<'_>) -> Vec<Result<Key, InvalidId>> {
        let mut keys = CountedProjectAccess::<A>::keys(request);
        keys.push(request.path.interview());
        keys
    }

    async fn load(mut request: Authenticated) -> Result<Self> {
        let project = request.take::<Project>(Path::project)?;
        let shards = request.batch.take_shards(&project.company, project.id);
        let (tally, has_begun) = (shards.tally(), shards.have_begun());
        let stored = Stored::of(&project, request.take_interview()?, has_begun);
        let standing = match &request.caller().identity {
            Identity::Candidate(own) if own.project == project.id && own.sees_questions() => Standing::Itself,
            _ => request.caller().in_project(&project.staff),
        };
        // To candidates, nothing else of the project exists.
        let read = if standing == Standing::Itself { A::ACTION } else { Action::ReadProject };
        let context = request.authorise_reader(read, A::ACTION, &standing)?;
        Ok(Self { project, tally, stored, standing, context, action: PhantomData })
    }
}

impl<A: Grant> InterviewAccess<A> {
    /// Narrows the guard to the part that the path names.
    async fn about<P: Part>(request: Authenticated, id: Result<Id<P::Of>, InvalidId>) -> Result<(Self, P)> {
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
    pub project: Versioned<Project>,
    /// All questions and criteria of its project.
    pub stored: Stored,
    /// The question.
    pub question: Question,
    /// What the caller is in the project; candidates who have begun are [`Standing::Itself`].
    pub standing: Standing,
    context: Context,
    action: PhantomData<A>,
}

impl<A: Grant> Guard for QuestionAccess<A> {
    fn keys(request: &Request<'_>) -> Vec<Result<Key, InvalidId>> {
        InterviewAccess::<A>::keys(request)
    }

    async fn load(request: Authenticated) -> Result<Self> {
        let id = request.path.id::<QuestionId>("questionId");
        let (access, question) = InterviewAccess::<A>::about(request, id).await?;
        let InterviewAccess { project, stored, standing, context, action, .. } = access;
        Ok(Self { project, stored, question, standing, context, action })
    }
}

/// A caller who may do `A` with the criterion of the path.
pub struct CriterionAccess<A> {
    /// The project.
    pub project: Versioned<Project>,
    /// All questions and criteria of its project.
    pub stored: Stored,
    /// The criterion.
    pub criterion: Criterion,
    context: Context,
    action: PhantomData<A>,
}

impl<A: Grant> Guard for CriterionAccess<A> {
    fn keys(request: &Request<'_>) -> Vec<Result<Key, InvalidId>> {
        InterviewAccess::<A>::keys(request)
    }

    async fn load(request: Authenticated) -> Result<Self> {
        let id = request.path.id::<CriterionId>("criterionId");
        let (access, criterion) = InterviewAccess::<A>::about(request, id).await?;
        let InterviewAccess { project, stored, context, action, .. } = access;
        Ok(Self { project, stored, criterion, context, action })
    }
}

extract!(InterviewAccess<A: Grant>);
extract!(QuestionAccess<A: Grant>);
extract!(CriterionAccess<A: Grant>);

//! Targets for the questions and criteria of a project: all of them, a question, and a criterion.

use crate::auth::access::{AdmittedRequest, AuthenticatedRequest, RequestTarget, UnauthenticatedRequest};
use crate::auth::caller::CallerIdentity;
use crate::domain::id::{CriterionId, InvalidId, QuestionId};
use crate::domain::policy::{Action, CallerRelation};
use crate::domain::project::Project;
use crate::domain::questionnaire::{Criterion, Question, Questionnaire};
use crate::domain::transition::project_counts::ProjectCounts;
use crate::error::{Error, Result};
use crate::store::{ItemKey, VersionedItem};

/// The questions and criteria of a project, with the project.
pub struct QuestionnaireTarget {
    pub project: VersionedItem<Project>,
    /// The counts of the project's candidates.
    pub counts: ProjectCounts,
    pub questionnaire: VersionedItem<Questionnaire>,
    /// Whether a candidate of the project has ever begun an interview.
    pub has_begun: bool,
    /// The caller's relation to the project; [`CallerRelation::ThisCandidate`] for candidates who may see the questions.
    pub relation: CallerRelation,
}

impl RequestTarget for Questionnaire {
    type Loaded = QuestionnaireTarget;

    fn keys(request: &UnauthenticatedRequest<'_>) -> Vec<Result<ItemKey, InvalidId>> {
        let mut keys = ProjectCounts::keys(request);
        keys.push(request.path.questionnaire());
        keys
    }

    async fn load(mut request: AuthenticatedRequest) -> Result<(AdmittedRequest, QuestionnaireTarget)> {
        let project = request.take::<Project>(request.path.project())?;
        let shards = request.batch.take_shards(&project.company, project.id);
        let has_begun = shards.has_begun();
        let counts = shards.sum();
        let questionnaire = request.take_questionnaire()?;
        let relation = match &request.caller().identity {
            CallerIdentity::Candidate(own) if own.project == project.id && own.sees_questions() => {
                CallerRelation::ThisCandidate
            }
            _ => request.caller().in_project(project.id, &project.staff),
        };
        let request = match relation {
            // Candidates must not learn what else exists in the project.
            CallerRelation::ThisCandidate => request.authorise(&relation).map_err(|_| Error::NotFound)?,
            _ => request.authorise_or_hide(Action::ReadProject, &relation)?,
        };
        Ok((request, QuestionnaireTarget { project, counts, questionnaire, has_begun, relation }))
    }
}

/// A question, with the whole questionnaire of its project.
pub struct QuestionTarget {
    /// The project and its questionnaire.
    pub all: QuestionnaireTarget,
    pub question: Question,
}

impl RequestTarget for Question {
    type Loaded = QuestionTarget;

    fn keys(request: &UnauthenticatedRequest<'_>) -> Vec<Result<ItemKey, InvalidId>> {
        Questionnaire::keys(request)
    }

    async fn load(request: AuthenticatedRequest) -> Result<(AdmittedRequest, QuestionTarget)> {
        let id = request.path.id::<QuestionId>("questionId");
        let (request, target) = Questionnaire::load(request).await?;
        let question =
            id.ok().and_then(|id| target.questionnaire.question(id)).cloned().ok_or(Error::NotFound)?;
        Ok((request.about_revision(question.revision), QuestionTarget { all: target, question }))
    }
}

/// A criterion, with the whole questionnaire of its project.
pub struct CriterionTarget {
    /// The project and its questionnaire.
    pub all: QuestionnaireTarget,
    pub criterion: Criterion,
}

impl RequestTarget for Criterion {
    type Loaded = CriterionTarget;

    fn keys(request: &UnauthenticatedRequest<'_>) -> Vec<Result<ItemKey, InvalidId>> {
        Questionnaire::keys(request)
    }

    async fn load(request: AuthenticatedRequest) -> Result<(AdmittedRequest, CriterionTarget)> {
        let id = request.path.id::<CriterionId>("criterionId");
        let (request, target) = Questionnaire::load(request).await?;
        let criterion =
            id.ok().and_then(|id| target.questionnaire.criterion(id)).cloned().ok_or(Error::NotFound)?;
        Ok((request.about_revision(criterion.revision), CriterionTarget { all: target, criterion }))
    }
}

//! What projects refer to, in place of the references where a client asks for it.

use std::collections::BTreeSet;

use shared::Result;
use shared::auth::access::Context;
use shared::domain::id::{CustomerId, LabelId};
use shared::domain::interview::Interview;
use shared::domain::project::Project;
use shared::http::expand::Expand;
use shared::http::reference::References;
use shared::http::view::{CriterionView, CustomerView, LabelView, Nested, QuestionView};
use shared::store::{Referred, Referring, Versioned};

use crate::roles::RoleView;

pub(crate) const EVALUATORS: &str = "evaluators";
pub(crate) const INTERVIEW_MANAGERS: &str = "interview_managers";
pub(crate) const REVIEWERS: &str = "reviewers";
const LABELS: &str = "labels";
const ROLES: &str = "roles";
const QUESTIONS: &str = "questions";
const CRITERIA: &str = "criteria";
/// What can be asked for.
pub(crate) const NAMES: &[&str] =
    &[EVALUATORS, INTERVIEW_MANAGERS, REVIEWERS, LABELS, ROLES, "videos", QUESTIONS, CRITERIA];

/// Reads which references of projects a request wants replaced.
///
/// # Errors
/// A message on `expand`.
pub(crate) fn read_expand(query: Option<&str>) -> Result<Expand> {
    Expand::parse(query, NAMES)
}

/// What is to be shown in place of references, read already.
#[derive(Default)]
pub(crate) struct Loaded {
    expand: Expand,
    referred: Referred,
}

impl Loaded {
    /// Reads what `expand` asks for of all of `projects`, in one round trip if anything.
    pub(crate) async fn load(
        access: &Context,
        expand: Expand,
        projects: impl Iterator<Item = &Project>,
    ) -> Result<Self> {
        let mut ids = Referring::default();
        let shows_interview = expand.has(QUESTIONS) || expand.has(CRITERIA);
        for Project { id, staff, settings, .. } in projects {
            ids.interviews.extend(Some(*id).filter(|_| shows_interview));
            for (name, people) in [
                (EVALUATORS, &staff.evaluators),
                (INTERVIEW_MANAGERS, &staff.interview_managers),
                (REVIEWERS, &staff.reviewers),
            ] {
                ids.customers.extend(people.iter().filter(|_| expand.has(name)));
            }
            ids.labels.extend(settings.labels.iter().filter(|_| expand.has(LABELS)));
        }
        let referred = access.store.referred(access.company_id(), &ids).await?;
        Ok(Self { expand, referred })
    }

    /// The people of one role, `name`, in a project.
    pub(crate) fn people(
        &self,
        name: &str,
        of: &Project,
        ids: &BTreeSet<CustomerId>,
        references: References<'_>,
    ) -> Vec<Nested<CustomerView>> {
        let view = |id: &CustomerId| match self.referred.customers.get(id).filter(|_| self.expand.has(name)) {
            Some(customer) => Nested::Resource(Box::new(CustomerView::new(customer, references))),
            None => Nested::Reference(references.customer(&of.company, *id)),
        };
        ids.iter().map(view).collect()
    }

    /// The labels of a project.
    pub(crate) fn labels(&self, of: &Project, references: References<'_>) -> Vec<Nested<LabelView>> {
        let view = |id: &LabelId| match self.referred.labels.get(id) {
            Some(label) => Nested::Resource(Box::new(LabelView::new(label, references))),
            None => Nested::Reference(references.label(&of.company, *id)),
        };
        of.settings.labels.iter().map(view).collect()
    }

    /// The questions of a project.
    pub(crate) fn questions(&self, of: &Project, references: References<'_>) -> Nested<Vec<QuestionView>> {
        if !self.expand.has(QUESTIONS) {
            return Nested::Reference(references.questions(&of.company, of.id));
        }
        let views = |interview: &Versioned<Interview>| {
            interview.questions.iter().map(|one| QuestionView::new(one, interview, references)).collect()
        };
        Nested::Resource(Box::new(self.referred.interviews.get(&of.id).map(views).unwrap_or_default()))
    }

    /// The criteria of a project.
    pub(crate) fn criteria(&self, of: &Project, references: References<'_>) -> Nested<Vec<CriterionView>> {
        if !self.expand.has(CRITERIA) {
            return Nested::Reference(references.criteria(&of.company, of.id));
        }
        let views = |interview: &Versioned<Interview>| {
            interview.criteria.iter().map(|one| CriterionView::new(one, interview, references)).collect()
        };
        Nested::Resource(Box::new(self.referred.interviews.get(&of.id).map(views).unwrap_or_default()))
    }

    /// The roles in a project, all of them.
    pub(crate) fn roles(&self, of: &Project, references: References<'_>) -> Nested<Vec<RoleView>> {
        if self.expand.has(ROLES) {
            let roles = of.staff.roles().into_iter();
            Nested::Resource(Box::new(roles.map(|held| RoleView::new(of, held, references)).collect()))
        } else {
            Nested::Reference(references.roles(&of.company, of.id))
        }
    }
}

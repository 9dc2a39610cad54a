//! What projects refer to, in place of the references where a client asks for it.

use std::collections::BTreeSet;

use shared::Result;
use shared::auth::access::AdmittedRequest;
use shared::domain::id::{CustomerId, LabelId};
use shared::domain::interview::Interview;
use shared::domain::project::Project;
use shared::http::expand::ExpandFields;
use shared::http::reference::ReferenceUris;
use shared::http::view::{CriterionView, CustomerView, ExpandedReference, LabelView, QuestionView};
use shared::store::{ReferenceIds, ReferencedResources, VersionedItem};

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
pub(crate) fn read_expand(query: Option<&str>) -> Result<ExpandFields> {
    ExpandFields::parse(query, NAMES)
}

/// What is to be shown in place of references, read already.
#[derive(Default)]
pub(crate) struct ExpandedResources {
    expand: ExpandFields,
    referred: ReferencedResources,
}

impl ExpandedResources {
    /// Reads what `expand` asks for of all of `projects`, in one round trip if anything.
    pub(crate) async fn load(
        access: &AdmittedRequest,
        expand: ExpandFields,
        projects: impl Iterator<Item = &Project>,
    ) -> Result<Self> {
        let mut ids = ReferenceIds::default();
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
        references: ReferenceUris<'_>,
    ) -> Vec<ExpandedReference<CustomerView>> {
        let view = |id: &CustomerId| match self.referred.customers.get(id).filter(|_| self.expand.has(name)) {
            Some(customer) => ExpandedReference::Resource(Box::new(CustomerView::new(customer, references))),
            None => ExpandedReference::Reference(references.customer(&of.company, *id)),
        };
        ids.iter().map(view).collect()
    }

    /// The labels of a project.
    pub(crate) fn labels(
        &self,
        of: &Project,
        references: ReferenceUris<'_>,
    ) -> Vec<ExpandedReference<LabelView>> {
        let view = |id: &LabelId| match self.referred.labels.get(id) {
            Some(label) => ExpandedReference::Resource(Box::new(LabelView::new(label, references))),
            None => ExpandedReference::Reference(references.label(&of.company, *id)),
        };
        of.settings.labels.iter().map(view).collect()
    }

    /// The questions of a project.
    pub(crate) fn questions(
        &self,
        of: &Project,
        references: ReferenceUris<'_>,
    ) -> ExpandedReference<Vec<QuestionView>> {
        if !self.expand.has(QUESTIONS) {
            return ExpandedReference::Reference(references.project(&of.company, of.id).join(QUESTIONS));
        }
        let views = |interview: &VersionedItem<Interview>| {
            interview.questions.iter().map(|one| QuestionView::new(one, interview, references)).collect()
        };
        ExpandedReference::Resource(Box::new(
            self.referred.interviews.get(&of.id).map(views).unwrap_or_default(),
        ))
    }

    /// The criteria of a project.
    pub(crate) fn criteria(
        &self,
        of: &Project,
        references: ReferenceUris<'_>,
    ) -> ExpandedReference<Vec<CriterionView>> {
        if !self.expand.has(CRITERIA) {
            return ExpandedReference::Reference(references.project(&of.company, of.id).join(CRITERIA));
        }
        let views = |interview: &VersionedItem<Interview>| {
            interview.criteria.iter().map(|one| CriterionView::new(one, interview, references)).collect()
        };
        ExpandedReference::Resource(Box::new(
            self.referred.interviews.get(&of.id).map(views).unwrap_or_default(),
        ))
    }

    /// The roles in a project, all of them.
    pub(crate) fn roles(
        &self,
        of: &Project,
        references: ReferenceUris<'_>,
    ) -> ExpandedReference<Vec<RoleView>> {
        if self.expand.has(ROLES) {
            let roles = of.staff.roles().into_iter();
            ExpandedReference::Resource(Box::new(
                roles.map(|held| RoleView::new(of, held, references)).collect(),
            ))
        } else {
            ExpandedReference::Reference(references.project(&of.company, of.id).join(ROLES))
        }
    }
}

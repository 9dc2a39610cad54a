//! Shows resources instead of references in projects, on request by `?expand=`.

use std::collections::BTreeSet;

use shared::Result;
use shared::auth::access::AdmittedRequest;
use shared::domain::id::CustomerId;
use shared::domain::project::Project;
use shared::http::expand::ExpandFields;
use shared::http::reference::ReferenceUris;
use shared::http::view::{CriterionView, CustomerView, ExpandedReference, LabelView, QuestionView};
use shared::store::{ReferenceIds, ReferencedResources};

use crate::roles::RoleView;

pub(crate) const EVALUATORS: &str = "evaluators";
pub(crate) const INTERVIEW_MANAGERS: &str = "interview_managers";
pub(crate) const REVIEWERS: &str = "reviewers";
const LABELS: &str = "labels";
const ROLES: &str = "roles";
const QUESTIONS: &str = "questions";
const CRITERIA: &str = "criteria";
/// The fields that can be expanded. `videos` is accepted, though videos are always shown in full.
pub(crate) const NAMES: &[&str] =
    &[EVALUATORS, INTERVIEW_MANAGERS, REVIEWERS, LABELS, ROLES, "videos", QUESTIONS, CRITERIA];

/// The resources to show instead of references.
#[derive(Default)]
pub(crate) struct ExpandedResources {
    fields: ExpandFields,
    found: ReferencedResources,
}

impl ExpandedResources {
    /// Reads the resources that `fields` of the projects refer to, in at most one round trip.
    pub(crate) async fn load(
        access: &AdmittedRequest,
        fields: ExpandFields,
        projects: impl Iterator<Item = &Project>,
    ) -> Result<Self> {
        let mut ids = ReferenceIds::default();
        let shows_interview = fields.has(QUESTIONS) || fields.has(CRITERIA);
        for Project { id, staff, settings, .. } in projects {
            ids.questionnaires.extend(Some(*id).filter(|_| shows_interview));
            for (name, people) in [
                (EVALUATORS, &staff.evaluators),
                (INTERVIEW_MANAGERS, &staff.interview_managers),
                (REVIEWERS, &staff.reviewers),
            ] {
                ids.customers.extend(people.iter().filter(|_| fields.has(name)));
            }
            ids.labels.extend(settings.labels.iter().filter(|_| fields.has(LABELS)));
        }
        let found = access.store.referred(access.company_id(), &ids).await?;
        Ok(Self { fields, found })
    }

    /// The customers with one role in a project. `name` is the field of the role.
    pub(crate) fn people(
        &self,
        name: &str,
        project: &Project,
        ids: &BTreeSet<CustomerId>,
        references: ReferenceUris<'_>,
    ) -> Vec<ExpandedReference<CustomerView>> {
        let mut people = Vec::with_capacity(ids.len());
        for id in ids {
            // Filter by field: the customer may have been read for another role.
            let customer = self.found.customers.get(id).filter(|_| self.fields.has(name));
            let view = customer.map(|customer| CustomerView::new(customer, references));
            let reference = ExpandedReference::Reference(references.uri(&project.company, *id));
            people.push(reference.expanded(view));
        }
        people
    }

    pub(crate) fn labels(
        &self,
        project: &Project,
        references: ReferenceUris<'_>,
    ) -> Vec<ExpandedReference<LabelView>> {
        let mut labels = Vec::with_capacity(project.settings.labels.len());
        for id in &project.settings.labels {
            let view = self.found.labels.get(id).map(|label| LabelView::new(label, references));
            let reference = ExpandedReference::Reference(references.uri(&project.company, *id));
            labels.push(reference.expanded(view));
        }
        labels
    }

    pub(crate) fn questions(
        &self,
        project: &Project,
        references: ReferenceUris<'_>,
    ) -> ExpandedReference<Vec<QuestionView>> {
        let questionnaire = self.found.questionnaires.get(&project.id);
        let maximum_score = project.settings.maximum_score;
        let views = questionnaire.into_iter().flat_map(|questionnaire| {
            questionnaire
                .questions
                .iter()
                .map(|question| QuestionView::new(question, questionnaire, maximum_score, references))
        });
        let reference =
            ExpandedReference::Reference(references.uri(&project.company, project.id).join("questions"));
        reference.expanded(self.fields.has(QUESTIONS).then(|| views.collect()))
    }

    pub(crate) fn criteria(
        &self,
        project: &Project,
        references: ReferenceUris<'_>,
    ) -> ExpandedReference<Vec<CriterionView>> {
        let questionnaire = self.found.questionnaires.get(&project.id);
        let maximum_score = project.settings.maximum_score;
        let views = questionnaire.into_iter().flat_map(|questionnaire| {
            questionnaire
                .criteria
                .iter()
                .map(|criterion| CriterionView::new(criterion, questionnaire, maximum_score, references))
        });
        let reference =
            ExpandedReference::Reference(references.uri(&project.company, project.id).join("criteria"));
        reference.expanded(self.fields.has(CRITERIA).then(|| views.collect()))
    }

    pub(crate) fn roles(
        &self,
        project: &Project,
        references: ReferenceUris<'_>,
    ) -> ExpandedReference<Vec<RoleView>> {
        let roles = project.staff.roles().into_iter();
        let views = roles.map(|held| RoleView::new(project, held, references));
        let reference =
            ExpandedReference::Reference(references.uri(&project.company, project.id).join("roles"));
        reference.expanded(self.fields.has(ROLES).then(|| views.collect()))
    }
}

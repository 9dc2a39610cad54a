//! Creates projects by copying another project's settings, questions and criteria.

use shared::auth::access::AdmittedRequest;
use shared::domain::id::ProjectId;
use shared::domain::policy::Action;
use shared::domain::project::Project;
use shared::domain::questionnaire::Questionnaire;
use shared::store::{CopiedAttachments, CopySource, Transaction};
use shared::{Error, Result};

/// A project to copy, which the caller may change.
pub(crate) struct ProjectCopy {
    source: CopySource,
    copied: CopiedAttachments,
    /// Whether the retention rule is copied: only callers who may set a rule may copy one.
    copies_retention: bool,
}

/// The name of the retention rule in the response's `not_copied`.
const RETENTION: &str = "retention";

impl ProjectCopy {
    /// Reads the project to copy. Fails with an error on `copy_of` if it does not exist or the caller may not see it,
    /// and with [`Error::MissingPermission`] if they may not change it.
    pub(crate) async fn read(access: &AdmittedRequest, id: ProjectId) -> Result<Self> {
        let source = access.store.copy_source(access.company_id(), id).await?;
        let is_allowed = |action: Action, source: &CopySource| {
            action.is_allowed(&access.caller.in_project(source.project.id, &source.project.staff))
        };
        let source = source.filter(|source| is_allowed(Action::ReadProject, source));
        let source = source.ok_or_else(|| Error::field("copy_of", "This project does not exist."))?;
        if !is_allowed(Action::ChangeProject, &source) {
            return Err(access.lacks(Action::ChangeProject));
        }
        let copied = access.store.copied_attachments(&source).await?;
        let copies_retention = is_allowed(Action::ManagePrivacy, &source);
        Ok(Self { source, copied, copies_retention })
    }

    /// The new project with the copied settings.
    pub(crate) fn apply_to(&self, project: Project) -> Project {
        let CopiedAttachments { labels, videos } = &self.copied;
        let source = &self.source.project;
        let copy = project.copying(source, |label| labels.contains(&label), |video| videos.contains(&video));
        if self.copies_retention { copy.copying_retention(source) } else { copy }
    }

    /// The settings that are not copied, because the caller may not set them.
    pub(crate) fn not_copied(&self) -> Vec<String> {
        let has_rule = self.source.project.retention.own.is_some();
        if has_rule && !self.copies_retention { vec![RETENTION.to_owned()] } else { Vec::new() }
    }

    /// The transaction that creates the project with the copied questions and criteria.
    pub(crate) fn create(&self, access: &AdmittedRequest, project: &Project) -> Transaction {
        access.store.copy_project(
            project,
            &self.questionnaire(access, project.id),
            &self.source,
            &self.copied,
        )
    }

    fn questionnaire(&self, access: &AdmittedRequest, project: ProjectId) -> Questionnaire {
        let has_video = |video| self.copied.videos.contains(&video);
        let question_id = || access.store.next_id(access.now);
        let criterion_id = || access.store.next_id(access.now);
        self.source.questionnaire.copied_to(project, has_video, question_id, criterion_id)
    }
}

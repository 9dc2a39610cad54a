//! Targets for the retention of a company and of a project.

use crate::auth::access::targets::project::ProjectTarget;
use crate::auth::access::{AdmittedRequest, AuthenticatedRequest, RequestTarget, UnauthenticatedRequest};
use crate::domain::company::Company;
use crate::domain::id::InvalidId;
use crate::domain::privacy::retention_rule::ProjectRetention;
use crate::domain::project::Project;
use crate::domain::retention::RetentionPolicy;
use crate::error::Result;
use crate::store::{CompanyRetention, ItemKey, VersionedItem, retention_keys};

/// The retention of a company.
pub struct RetentionTarget {
    pub company: VersionedItem<Company>,
    /// The company's policy and runs.
    pub retention: CompanyRetention,
}

impl RequestTarget for RetentionPolicy {
    type Loaded = RetentionTarget;

    fn keys(request: &UnauthenticatedRequest<'_>) -> Vec<Result<ItemKey, InvalidId>> {
        let policy = request.path.company_id().map(|company| retention_keys(&company));
        policy.into_iter().flatten().map(Ok).chain([request.path.company()]).collect()
    }

    async fn load(mut request: AuthenticatedRequest) -> Result<(AdmittedRequest, RetentionTarget)> {
        let company = request.take::<Company>(request.path.company())?;
        let retention = request.batch.take_retention(&company.id)?;
        let relation = request.caller().in_company();
        // Use the policy's revision: runs change nothing that a client could overwrite.
        let request = request.authorise(&relation)?.about(&retention.policy);
        Ok((request, RetentionTarget { company, retention }))
    }
}

pub struct ProjectRetentionTarget {
    pub company: VersionedItem<Company>,
    /// The company's policy and runs.
    pub retention: CompanyRetention,
    pub project: VersionedItem<Project>,
}

impl RequestTarget for ProjectRetention {
    type Loaded = ProjectRetentionTarget;

    fn keys(request: &UnauthenticatedRequest<'_>) -> Vec<Result<ItemKey, InvalidId>> {
        RetentionPolicy::keys(request).into_iter().chain([request.path.project()]).collect()
    }

    async fn load(mut request: AuthenticatedRequest) -> Result<(AdmittedRequest, ProjectRetentionTarget)> {
        let retention = request.batch.take_retention(&request.caller().company().clone())?;
        let (request, ProjectTarget { company, project, .. }) = Project::load(request).await?;
        Ok((request, ProjectRetentionTarget { company, retention, project }))
    }
}

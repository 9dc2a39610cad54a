//! Example claims of each platform, from its documentation; none was tested with the platform.

use chrono::{DateTime, TimeDelta, Utc};
use serde_json::{Value, json};

/// A platform that gives workloads an identity.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Platform {
    GitHub,
    Aws,
    GoogleCloud,
    GitLab,
}

impl Platform {
    pub const ALL: [Self; 4] = [Self::GitHub, Self::Aws, Self::GoogleCloud, Self::GitLab];

    /// The claims of a workload's token for `audience`, issued by `issuer`.
    pub fn claims(self, issuer: &str, audience: &str, now: DateTime<Utc>) -> Value {
        let seconds = now.timestamp();
        let mut claims = match self {
            Self::GitHub => json!({
                "jti": "example-id", "sub": "repo:acme/ats:environment:prod", "environment": "prod",
                "ref": "refs/heads/main", "sha": "example-sha", "repository": "acme/ats", "repository_owner": "acme",
                "actor_id": "12", "repository_visibility": "private", "repository_id": "74",
                "repository_owner_id": "65", "run_id": "example-run-id", "run_number": "10", "run_attempt": "2",
                "runner_environment": "github-hosted", "actor": "grace", "workflow": "example-workflow",
                "head_ref": "", "base_ref": "", "event_name": "workflow_dispatch", "ref_type": "branch",
                "job_workflow_ref": "acme/automation/.github/workflows/oidc.yml@refs/heads/main",
                "nbf": seconds - 300, "exp": seconds + 600, "iat": seconds - 10,
            }),
            Self::Aws => json!({
                "sub": "arn:aws:iam::123456789012:role/ats", "jti": "example-id",
                "https://sts.amazonaws.com/": {
                    "aws_account": "123456789012", "org_id": "o-abc1234567", "principal_id": "arn:aws:iam::123456789012:role/ats",
                },
                "exp": seconds + 300, "iat": seconds,
            }),
            Self::GoogleCloud => json!({
                "azp": "107517467455664443766", "sub": "107517467455664443766",
                "email": "ats@acme.iam.gserviceaccount.com", "email_verified": true,
                "exp": seconds + 3600, "iat": seconds,
            }),
            Self::GitLab => json!({
                "jti": "c82eeb0c-5c6f-4a33-abf5-4c474b92b558", "sub": "project_path:acme/ats:ref_type:branch:ref:main",
                "namespace_id": "72", "namespace_path": "acme", "project_id": "20", "project_path": "acme/ats",
                "user_id": "1", "user_login": "grace", "user_email": "grace@acme.example", "pipeline_id": "574",
                "pipeline_source": "push", "job_id": "302", "ref": "main", "ref_type": "branch", "ref_protected": "true",
                "environment": "prod", "environment_protected": "true", "runner_id": 1, "sha": "714a6290",
                "nbf": seconds - 5, "exp": seconds + 3600, "iat": seconds,
            }),
        };
        claims["iss"] = issuer.into();
        claims["aud"] = match self {
            // A list with one element is equivalent.
            Self::Aws => json!([audience]),
            _ => json!(audience),
        };
        claims
    }

    /// A `trust` that pins the workload.
    pub fn trust(self, issuer: &str) -> Value {
        let claims = self.claims(issuer, "", DateTime::UNIX_EPOCH + TimeDelta::days(1));
        let pinned: &[&str] = match self {
            Self::GitHub => &["repository_id", "repository_owner_id"],
            Self::Aws => &[],
            Self::GoogleCloud => &["email"],
            Self::GitLab => &["project_id", "ref_protected"],
        };
        let pinned = pinned.iter().map(|name| ((*name).to_owned(), claims[*name].clone()));
        let pinned: serde_json::Map<String, Value> = pinned.collect();
        json!({ "issuer": issuer, "subject": claims["sub"], "claims": pinned })
    }
}

//! The view of a named token's rights.

use schemars::JsonSchema;
use serde::Serialize;

use crate::domain::id::CompanyId;
use crate::domain::staff::customer::AccountType;
use crate::domain::staff::named_token::TokenRights;
use crate::http::example_uri;
use crate::http::reference::ReferenceUris;
use crate::http::wire::Uri;

/// The rights of a named token.
#[derive(Debug, Serialize, JsonSchema)]
pub struct TokenRightsView {
    /// The account type whose rights a token without `projects` has, except for actions that need a person. With `projects`, it has
    /// no effect.
    #[schemars(example = AccountType::HiringManager)]
    account_type: AccountType,
    /// The URLs of the projects that the token is limited to, at most 50. It has the rights of an interview manager in them. Empty
    /// for a token of the whole company.
    #[schemars(length(max = 50), example = [example_uri::PROJECT])]
    projects: Vec<Uri>,
    /// Whether the token may only send GET and HEAD. Such a token sees no keys of candidates and no links to their interviews,
    /// because callers can act as the candidate with these.
    #[schemars(example = true)]
    read_only: bool,
}

impl TokenRightsView {
    /// The view of the rights of a token of `company`.
    pub fn new(company: &CompanyId, rights: &TokenRights, references: ReferenceUris<'_>) -> Self {
        let TokenRights { account_type, projects, is_read_only } = rights;
        Self {
            account_type: *account_type,
            projects: projects.iter().map(|project| references.uri(company, *project)).collect(),
            read_only: *is_read_only,
        }
    }
}

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
    /// Without `projects`, the token has the rights of a customer of this account type, except for actions that need a person. With
    /// them, it makes no difference.
    #[schemars(example = AccountType::HiringManager)]
    account_type: AccountType,
    /// The projects that the token is limited to, as their interview manager, at most 50. Empty for a token of the whole company.
    #[schemars(length(max = 50), example = [example_uri::PROJECT])]
    projects: Vec<Uri>,
    /// Whether the token may only send GET and HEAD. It sees no keys of candidates and no links to their interviews, since
    /// a caller with one acts as the candidate.
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

//! Named tokens as clients see them.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use schemars::JsonSchema;
use serde::Serialize;
use shared::domain::id::TokenId;
use shared::domain::staff::named_token::{NamedToken, TokenUses};
use shared::domain::staff::trust::{NotedProblem, TokenTrust, TrustProblem};
use shared::http::example_uri;
use shared::http::reference::ReferenceUris;
use shared::http::view::TokenRightsView;
use shared::http::wire::{Identifier, Timestamp, Uri};

/// A named token, without its value.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "NamedToken")]
pub(crate) struct TokenView {
    id: Identifier<TokenId>,
    /// The URL of the resource.
    #[schemars(example = example_uri::TOKEN)]
    resource_uri: Uri,
    /// The company that the token acts for.
    #[schemars(example = example_uri::COMPANY)]
    company: Uri,
    /// The display name.
    #[schemars(example = &"Applicant tracking", length(min = 1))]
    name: String,
    #[serde(flatten)]
    rights: TokenRightsView,
    /// The workload that may use the token instead of a value; null for a token with a value.
    trust: Option<TrustView>,
    /// When the token expires; null for never. The service deletes it 30 days later.
    expires_at: Option<Timestamp>,
    /// Whether the token has expired, because `expires_at` has passed.
    #[schemars(example = false)]
    is_expired: bool,
    /// The UTC day of the token's last use, at midnight; null if it was never used. Files fetched by their URLs do not
    /// count.
    #[schemars(example = ())]
    last_used_at: Option<Timestamp>,
    /// The UTC day of the last successful exchange of a JWT for the token, at midnight; null if there was none.
    #[schemars(example = ())]
    exchanged_at: Option<Timestamp>,
    /// Why the last failed exchange for the token failed; null if none has. It stays after a later success: compare
    /// `at` with `exchanged_at`. A repeated failure is recorded once an hour, and only if the issuer has signed the JWT
    /// or could not be queried.
    last_problem: Option<ProblemView>,
    /// When the resource was created.
    created_at: Timestamp,
    /// The owner who created the token.
    #[schemars(example = example_uri::CUSTOMER)]
    created_by: Uri,
}

/// A workload that may use a token.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "TokenTrust")]
struct TrustView {
    /// The claim `iss` of its JWTs.
    #[schemars(example = &"https://token.actions.githubusercontent.com")]
    issuer: String,
    /// The claim `sub` of its JWTs.
    #[schemars(example = &"repo:acme/ats:environment:prod")]
    subject: String,
    /// Further claims of its JWTs, by name. The values are strings.
    #[schemars(example = BTreeMap::from([("repository_id", "123456")]))]
    claims: BTreeMap<String, String>,
    /// Whether the token was imported with an archive of the company. Exchanges for it always fail: create another
    /// token.
    #[schemars(example = false)]
    is_imported: bool,
}

/// Why an exchange failed.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "TrustProblem")]
struct ProblemView {
    code: TrustProblem,
    /// When the exchange failed.
    at: Timestamp,
}

impl TrustView {
    fn new(trust: &TokenTrust, is_imported: bool) -> Self {
        let TokenTrust { issuer, subject, claims } = trust;
        Self {
            issuer: issuer.as_str().to_owned(),
            subject: subject.as_str().to_owned(),
            claims: claims.iter().map(|(name, text)| (name.clone(), text.as_str().to_owned())).collect(),
            is_imported,
        }
    }
}

impl TokenView {
    /// The view of a named token with these uses at `now`.
    pub(super) fn new(
        token: &NamedToken,
        uses: TokenUses,
        now: DateTime<Utc>,
        references: ReferenceUris<'_>,
    ) -> Self {
        let TokenUses { last_used_at, exchanged_at, last_problem } = uses;
        let problem = |noted: NotedProblem| ProblemView { code: noted.problem, at: Timestamp(noted.at) };
        Self {
            id: Identifier(token.id),
            resource_uri: references.uri(&token.company, token.id),
            company: references.company(&token.company),
            name: token.name.to_string(),
            rights: TokenRightsView::new(&token.company, &token.rights, references),
            trust: token.proof.trust().map(|trust| TrustView::new(trust, !token.proof.takes_exchanges())),
            expires_at: token.expires_at.map(Timestamp),
            is_expired: !token.is_alive_at(now),
            last_used_at: last_used_at.map(Timestamp),
            exchanged_at: exchanged_at.map(Timestamp),
            last_problem: last_problem.map(problem),
            created_at: Timestamp(token.created_at),
            created_by: references.uri(&token.company, token.created_by),
        }
    }
}

/// A new named token, with its value.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "NewNamedToken")]
pub(crate) struct NewTokenView {
    #[serde(flatten)]
    token: TokenView,
    /// The value of the token. It is returned only once, and not to a retry. Missing for a token with `trust`.
    #[schemars(example = &"a long text of letters and digits")]
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<String>,
}

impl NewTokenView {
    /// The view of a named token that is created at `now`, with its value.
    pub(super) fn new(
        token: &NamedToken,
        value: Option<String>,
        now: DateTime<Utc>,
        references: ReferenceUris<'_>,
    ) -> Self {
        Self { token: TokenView::new(token, token.uses, now, references), value }
    }
}

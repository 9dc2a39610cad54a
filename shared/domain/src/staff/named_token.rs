//! Named tokens: credentials of a company for its services, with an owner's rights or fewer.

use std::collections::BTreeSet;

use chrono::{DateTime, Months, NaiveTime, TimeDelta, Utc};
use serde::{Deserialize, Serialize};

use crate::Refusal;
use crate::history::{EventType, FieldValue, HasHistory, ResourceRef, facts, private};
use crate::id::{CompanyId, CustomerId, ProjectId, TokenId};
use crate::issuer::IssuerUrl;
use crate::names::named;
use crate::policy::CallerRelation;
use crate::secret::{Sealed, SecretHash};
use crate::staff::customer::AccountType;
use crate::staff::trust::{NotedProblem, TokenTrust};
use crate::text::ShortName;
use crate::timestamp::Timestamp;

/// The maximum number of a company's named tokens.
pub const MAX_TOKENS: u32 = 100;
/// The company has the maximum number of named tokens.
pub const TOO_MANY_TOKENS: Refusal =
    Refusal { code: "too_many_tokens", detail: "A company may have 100 named tokens. Delete one first." };

/// A token that may only read was used for something else.
pub const READ_ONLY_TOKEN: Refusal = Refusal {
    code: "read_only_token",
    detail: "This token may only read: send GET or HEAD. For changes, use a token without `read_only`.",
};

/// The maximum number of projects that a token can be limited to.
pub const MAX_PROJECTS: usize = 50;
/// How long an expired token stays in the list of the company's tokens.
const SHOWN_AFTER_END: TimeDelta = TimeDelta::days(30);
/// The minimum lifetime of a new token.
const MIN_LIFETIME: TimeDelta = TimeDelta::hours(1);
/// The maximum lifetime of a new token: ten years.
const MAX_LIFETIME: Months = Months::new(120);

named! {
    /// Things made by a named token that outlive it, unless an owner deletes them with the token.
    pub enum MadeByToken {
        /// Links with which people without an account watch the answers of a candidate.
        GuestLinks = "guest-links",
        /// Endpoints that events are sent to.
        Webhooks = "webhooks",
    }
}

/// The minimum entropy of a value in bits, as [`bits`] estimates it: that of 20 random hexadecimal digits.
pub const MIN_BITS: f64 = 80.0;

/// Estimates the entropy of a text in bits: by the frequency of its characters or, if that gives less, of the differences between
/// neighbours. Repetitions of earlier parts do not count.
pub fn bits(text: &str) -> f64 {
    let bytes = text.as_bytes();
    let fresh = bytes.windows(3).collect::<BTreeSet<_>>().len() as f64;
    let steps: Vec<u8> = bytes.windows(2).map(|pair| pair[1].wrapping_sub(pair[0])).collect();
    fresh * surprise(bytes).min(surprise(&steps))
}

/// The entropy per byte in bits, by the frequency of bytes (Shannon).
fn surprise(bytes: &[u8]) -> f64 {
    let mut counts = [0_u32; 256];
    bytes.iter().for_each(|byte| counts[usize::from(*byte)] += 1);
    let shares =
        counts.into_iter().filter(|count| *count > 0).map(|count| f64::from(count) / bytes.len() as f64);
    shares.map(|share| -share * share.log2()).sum()
}

/// The rights of a named token.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenRights {
    /// Without `projects`, the token has the rights of a customer of this type, except for actions that need a person.
    pub account_type: AccountType,
    /// The projects that the token is limited to, as their interview manager; empty for a token of the whole company.
    pub projects: BTreeSet<ProjectId>,
    pub is_read_only: bool,
}

impl TokenRights {
    /// The rights of an owner.
    pub const OWNER: Self =
        Self { account_type: AccountType::Owner, projects: BTreeSet::new(), is_read_only: false };

    /// Rights limited to these projects; `None` if the client has named none. The error is the message on `projects`, if they do
    /// not fit the account type.
    pub fn new(
        account_type: AccountType,
        projects: Option<BTreeSet<ProjectId>>,
        is_read_only: bool,
    ) -> Result<Self, String> {
        match projects {
            Some(_) if account_type >= AccountType::Admin => {
                Err("Tokens of this account type see all projects. Omit this field.".to_owned())
            }
            // An empty list is most likely a mistake of the client, and must not widen the rights.
            Some(projects) if projects.is_empty() => Err("Name at least one project.".to_owned()),
            // Without projects, such a token could do almost nothing, which its owner would notice only in production.
            None if account_type < AccountType::Recruiter => {
                Err("Name at least one project: tokens of this account type see no others.".to_owned())
            }
            projects => Ok(Self { account_type, projects: projects.unwrap_or_default(), is_read_only }),
        }
    }

    /// The projects that the token is limited to; `None` for a token of the whole company.
    pub fn limits(&self) -> Option<&BTreeSet<ProjectId>> {
        Some(&self.projects).filter(|projects| !projects.is_empty())
    }

    /// The token's relation to a target that belongs to `project`, or to the company if `project` is `None`.
    pub fn relation(&self, project: Option<ProjectId>) -> CallerRelation {
        let Self { account_type, is_read_only, .. } = *self;
        match self.limits() {
            None => CallerRelation::NamedToken { account_type, is_read_only },
            Some(projects) => {
                let is_in_project = project.is_some_and(|project| projects.contains(&project));
                CallerRelation::ProjectToken { is_in_project, is_read_only }
            }
        }
    }
}

/// Checks the end of a token that is created at `now`. The error is the message on `expires_at`.
pub fn check_end(end: DateTime<Utc>, now: DateTime<Utc>) -> Result<(), String> {
    if (now + MIN_LIFETIME..=now + MAX_LIFETIME).contains(&end) {
        Ok(())
    } else {
        Err("Choose a time that is at least an hour and at most ten years ahead.".to_owned())
    }
}

/// The beginning of the day of `now` in UTC: uses of tokens are recorded by day.
pub fn day_of_use(now: DateTime<Utc>) -> DateTime<Utc> {
    now.date_naive().and_time(NaiveTime::MIN).and_utc()
}

/// How callers prove that they may use a named token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TokenProof {
    /// Callers send the token's value.
    Value {
        /// The hash of the value.
        hash: SecretHash,
        /// The [`MediaKey`](crate::secret::MediaKey) of the value, which verifies the file URLs in responses to the token.
        media_key: Sealed,
    },
    /// Callers exchange a platform's JWT for a token that is valid for an hour. The stored trust is no secret.
    Trust(TokenTrust),
    /// The trust of an imported token admits no callers: an archive must not give access, and owners decide again whom the
    /// company trusts in this deployment.
    ImportedTrust(TokenTrust),
}

impl TokenProof {
    /// The trust, whether imported or not; `None` for a token with a value.
    pub fn trust(&self) -> Option<&TokenTrust> {
        match self {
            Self::Trust(trust) | Self::ImportedTrust(trust) => Some(trust),
            Self::Value { .. } => None,
        }
    }

    /// Whether JWTs are exchanged for the token.
    pub fn takes_exchanges(&self) -> bool {
        matches!(self, Self::Trust(_))
    }
}

/// The last uses of a named token.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TokenUses {
    /// The day of the last request, at midnight in UTC.
    pub last_used_at: Option<DateTime<Utc>>,
    /// The day of the last exchange, at midnight in UTC.
    pub exchanged_at: Option<DateTime<Utc>>,
    /// The last problem of an exchange since the token was created.
    pub last_problem: Option<NotedProblem>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "StoredToken", into = "StoredToken")]
pub struct NamedToken {
    pub id: TokenId,
    /// The company that owns the token.
    pub company: CompanyId,
    /// Usually the name of a service.
    pub name: ShortName,
    pub proof: TokenProof,
    pub rights: TokenRights,
    /// When the token expires; `None` for never.
    pub expires_at: Option<DateTime<Utc>>,
    /// The last uses. They are stored only in the copy of the token that every request with it reads. An imported token with
    /// trust has no copy, so it stores them itself.
    pub uses: TokenUses,
    /// When the resource was created.
    pub created_at: DateTime<Utc>,
    /// The owner who created the token.
    // The token outlives its creator: services must not stop when a person leaves or loses rights, and any owner may delete it.
    pub created_by: CustomerId,
}

impl NamedToken {
    /// Whether the token has not expired at `now`.
    pub fn is_alive_at(&self, now: DateTime<Utc>) -> bool {
        self.expires_at.is_none_or(|end| now < end)
    }

    /// The token as an import stores it: its trust admits no workload.
    pub fn imported(self) -> Self {
        match self.proof {
            // Such a token has no copy, so keep its uses here.
            TokenProof::Trust(trust) => Self { proof: TokenProof::ImportedTrust(trust), ..self },
            proof => Self { proof, uses: TokenUses::default(), ..self },
        }
    }

    /// When the service deletes the token; `None` for never.
    pub fn due_at(&self) -> Option<DateTime<Utc>> {
        self.expires_at.map(|end| end + SHOWN_AFTER_END)
    }
}

/// A named token as stored.
// A token with an owner's rights and no end has the form of all tokens of earlier releases. Any other token has no attribute
// `media_key`, so that a release without limits cannot read it: during a deployment or after a rollback, that release answers 503
// instead of giving the token an owner's rights. For the same reason, a token with trust has no `hash`.
#[derive(Serialize, Deserialize)]
struct StoredToken {
    id: TokenId,
    company: CompanyId,
    name: ShortName,
    #[serde(default)]
    hash: Option<SecretHash>,
    #[serde(default)]
    media_key: Option<Sealed>,
    #[serde(default)]
    trust: Option<TokenTrust>,
    #[serde(default)]
    is_imported: Option<bool>,
    #[serde(default)]
    limits: Option<StoredLimits>,
    #[serde(default)]
    last_used_at: Option<DateTime<Utc>>,
    #[serde(default)]
    exchanged_at: Option<DateTime<Utc>>,
    #[serde(default)]
    last_problem: Option<NotedProblem>,
    created_at: DateTime<Utc>,
    created_by: CustomerId,
}

/// The part that most tokens lack: limited rights or an end.
#[derive(Serialize, Deserialize)]
struct StoredLimits {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    media_key: Option<Sealed>,
    rights: TokenRights,
    expires_at: Option<DateTime<Utc>>,
}

impl From<NamedToken> for StoredToken {
    fn from(token: NamedToken) -> Self {
        let NamedToken { id, company, name, proof, rights, expires_at, uses, created_at, created_by } = token;
        let TokenUses { last_used_at, exchanged_at, last_problem } = uses;
        let is_imported = matches!(proof, TokenProof::ImportedTrust(_)).then_some(true);
        let (hash, mut media_key, trust) = match proof {
            TokenProof::Value { hash, media_key } => (Some(hash), Some(media_key), None),
            TokenProof::Trust(trust) | TokenProof::ImportedTrust(trust) => (None, None, Some(trust)),
        };
        let is_limited = rights != TokenRights::OWNER || expires_at.is_some();
        let limits = is_limited.then(|| StoredLimits { media_key: media_key.take(), rights, expires_at });
        Self {
            id,
            company,
            name,
            hash,
            media_key,
            trust,
            is_imported,
            limits,
            last_used_at,
            exchanged_at,
            last_problem,
            created_at,
            created_by,
        }
    }
}

impl TryFrom<StoredToken> for NamedToken {
    type Error = &'static str;

    fn try_from(stored: StoredToken) -> Result<Self, Self::Error> {
        let StoredToken { id, company, name, hash, trust, created_at, created_by, .. } = stored;
        let StoredToken { last_used_at, exchanged_at, last_problem, .. } = stored;
        let (media_key, rights, expires_at) = match stored.limits {
            Some(StoredLimits { media_key, rights, expires_at }) => (media_key, rights, expires_at),
            None => (stored.media_key, TokenRights::OWNER, None),
        };
        let proof = match (hash, media_key, trust) {
            (Some(hash), Some(media_key), None) => TokenProof::Value { hash, media_key },
            (None, None, Some(trust)) if stored.is_imported == Some(true) => TokenProof::ImportedTrust(trust),
            (None, None, Some(trust)) => TokenProof::Trust(trust),
            _ => return Err("a named token with neither a value and its key for files nor trust alone"),
        };
        let uses = TokenUses { last_used_at, exchanged_at, last_problem };
        Ok(Self { id, company, name, proof, rights, expires_at, uses, created_at, created_by })
    }
}

facts! {
    /// The facts of a named token: values that its events contain.
    pub struct TokenFacts {
        /// The account type whose rights the token has, unless it is limited to projects.
        account_type: AccountType,
        /// Whether the token may only read.
        read_only: bool,
        /// When the token expires; null for never.
        expires_at: Option<Timestamp>,
        /// The URL of the issuer of the workload that may use the token; null for a token with a value.
        issuer: Option<IssuerUrl>,
    }
}

impl HasHistory for NamedToken {
    const CREATED: EventType = EventType::TokenCreated;
    // A token never changes: clients replace it.
    const UPDATED: Option<EventType> = None;
    const DELETED: Option<EventType> = Some(EventType::TokenDeleted);

    fn place(&self) -> (&CompanyId, ResourceRef) {
        (&self.company, ResourceRef::Token { token: self.id })
    }

    fn history_fields(&self) -> Vec<(&'static str, FieldValue)> {
        let Self { name, proof, rights, expires_at, id: _, company: _, uses: _, .. } = self;
        let TokenRights { account_type, projects, is_read_only } = rights;
        let facts = TokenFacts {
            account_type: *account_type,
            read_only: *is_read_only,
            expires_at: expires_at.map(Timestamp),
            issuer: proof.trust().map(|trust| trust.issuer.clone()),
        };
        // Subjects and claims may name repositories, accounts and people.
        let workload = proof.trust().map(|trust| (&trust.subject, &trust.claims));
        let others =
            [("name", private(name)), ("projects", private(projects)), ("workload", private(&workload))];
        facts.into_fields().into_iter().chain(others).collect()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::id::Id;

    fn stored_today() -> Value {
        json!({
            "id": "01JQ8ZB4T1H6W5Y7X3Q9E2G0FA",
            "company": "acme",
            "name": "Payroll",
            "hash": "hash",
            "media_key": "key",
            "created_at": "2026-11-08T10:00:00Z",
            "created_by": "01JQ8ZB4T1H6W5Y7X3Q9E2G0FA",
        })
    }

    fn without_nulls(token: &NamedToken) -> Value {
        let mut stored = serde_json::to_value(token).unwrap();
        stored.as_object_mut().unwrap().retain(|_, value| !value.is_null());
        stored
    }

    #[test]
    fn a_token_of_an_earlier_release_is_an_owner_without_an_end_and_stays_as_it_is_stored() {
        let token: NamedToken = serde_json::from_value(stored_today()).unwrap();
        assert_eq!(
            (&token.rights, token.expires_at, token.uses),
            (&TokenRights::OWNER, None, TokenUses::default())
        );
        assert_eq!(without_nulls(&token), stored_today());
    }

    #[test]
    fn a_release_that_knows_no_limits_cannot_read_a_token_with_some() {
        let owner: NamedToken = serde_json::from_value(stored_today()).unwrap();
        let projects = BTreeSet::from([Id::from_bytes([1; 16])]);
        let recruiter = TokenRights::new(AccountType::Recruiter, Some(projects), false).unwrap();
        let limited = [
            NamedToken { rights: TokenRights { is_read_only: true, ..TokenRights::OWNER }, ..owner.clone() },
            NamedToken {
                rights: TokenRights::new(AccountType::Admin, None, false).unwrap(),
                ..owner.clone()
            },
            NamedToken { rights: recruiter, ..owner.clone() },
            NamedToken { expires_at: Some(DateTime::UNIX_EPOCH), ..owner },
        ];
        for token in limited {
            let stored = without_nulls(&token);
            assert_eq!(stored.get("media_key"), None, "{stored}");
            assert_eq!(serde_json::from_value::<NamedToken>(stored).unwrap(), token);
        }
    }

    #[test]
    fn a_token_works_until_its_end_and_is_deleted_thirty_days_later() {
        let owner: NamedToken = serde_json::from_value(stored_today()).unwrap();
        let end = DateTime::UNIX_EPOCH + TimeDelta::days(1);
        assert!(owner.is_alive_at(end) && owner.due_at().is_none());
        let token = NamedToken { expires_at: Some(end), ..owner };
        assert!(token.is_alive_at(end - TimeDelta::seconds(1)) && !token.is_alive_at(end));
        assert_eq!(token.due_at(), Some(end + TimeDelta::days(30)));
    }

    #[test]
    fn an_end_is_at_least_an_hour_and_at_most_ten_years_ahead() {
        let now: DateTime<Utc> = "2024-02-29T12:00:00Z".parse().unwrap();
        for (end, is_good) in [
            ("2024-02-29T12:59:59Z", false),
            ("2024-02-29T13:00:00Z", true),
            ("2034-02-28T12:00:00Z", true),
            ("2034-02-28T12:00:01Z", false),
            ("2020-01-01T00:00:00Z", false),
        ] {
            assert_eq!(check_end(end.parse().unwrap(), now).is_ok(), is_good, "{end}");
        }
    }

    #[test]
    fn random_values_have_many_bits_and_repetitions_and_sequences_few() {
        for good in [
            "correct-horse-battery-staple:2026!",
            "9f86d081884c7d659a2feaa0c55ad015",
            "7b1f1a52-3c1d-4d53-9f0b-8a7e5d0c2b64",
            "31415926535897932384626433832795",
            "Zk3vQ9xT0pLmW7sB2nYcR5dHfJ8gUaEi",
        ] {
            assert!(bits(good) >= MIN_BITS, "{good}: {}", bits(good));
        }
        for bad in [
            "a".repeat(32),
            "a".repeat(255) + "b",
            "ab".repeat(60),
            "password".repeat(5),
            "Xy7$Qp2z".repeat(4),
            "0123456789abcdef".repeat(2),
            "abcdefghijklmnopqrstuvwxyz123456".to_owned(),
            "ZYXWVUTSRQPONMLKJIHGFEDCBA987654".to_owned(),
            "aaaaaaaaaaaaaaaabbbbbbbbbbbbbbbb".to_owned(),
        ] {
            assert!(bits(&bad) < MIN_BITS, "{bad}: {}", bits(&bad));
        }
    }
}

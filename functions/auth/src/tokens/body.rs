//! Reads the body that creates a named token.

use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, Utc};
use shared::Result;
use shared::auth::credential::chosen_token_value;
use shared::domain::id::{CompanyId, ProjectId};
use shared::domain::issuer::IssuerUrl;
use shared::domain::outgoing::AllowedTargets;
use shared::domain::parse_enum;
use shared::domain::staff::customer::AccountType;
use shared::domain::staff::named_token::{MAX_PROJECTS, TokenRights, check_end};
use shared::domain::staff::trust::{ClaimText, MAX_CLAIMS, TokenTrust};
use shared::domain::text::ShortName;
use shared::http::BodyFields;
use shared::http::iso8601::parse_timestamp;
use shared::http::reference::ReferenceUris;

pub(crate) struct NewToken {
    pub(super) name: ShortName,
    pub(super) proof: NewProof,
    pub(super) rights: TokenRights,
    pub(super) expires_at: Option<DateTime<Utc>>,
}

/// How callers prove that they may use a new token.
pub(super) enum NewProof {
    /// By its value; `None` lets the service generate one.
    Value(Option<String>),
    Trust(TokenTrust),
}

impl NewToken {
    /// Reads the body. Times in it are checked against `now`.
    pub(crate) fn read(
        mut body: BodyFields,
        now: DateTime<Utc>,
        targets: AllowedTargets,
        company: &CompanyId,
        references: ReferenceUris<'_>,
    ) -> Result<Self> {
        let name = body.required("name", ShortName::parse);
        let value = body.clearable("value", chosen_token_value).flatten();
        let has_trust = body.has("trust");
        let trust = body.clearable_object("trust", |trust| read_trust(trust, targets))?;
        if matches!((&value, &trust), (Some(_), Some(Some(_)))) {
            body.refuse("value", "A token with `trust` has no value. Omit one of the two.");
        }
        // `trust: null` suggests that the client meant to send one, so it must not get a token with a value.
        if has_trust && matches!(trust, Some(None)) {
            body.refuse("trust", "Send an object, or omit this field.");
        }
        let has_type = body.has("account_type");
        let account_type = body.text("account_type", parse_enum);
        let has_projects = body.has("projects");
        let projects: Option<Vec<ProjectId>> =
            body.list("projects", MAX_PROJECTS, |item| references.parse(company, item.reference()?));
        let is_read_only = body.flag("read_only").unwrap_or_default();
        let expires_at = body.clearable_date("expires_at", |text| {
            let end = parse_timestamp(text)?;
            check_end(end, now).map(|()| end)
        });
        // A field that could not be read already has its own error.
        let is_read = has_type == account_type.is_some() && has_projects == projects.is_some();
        let account_type = account_type.unwrap_or(AccountType::Owner);
        let rights = TokenRights::new(account_type, projects.map(BTreeSet::from_iter), is_read_only);
        let rights = match rights {
            Err(message) if is_read => {
                body.refuse("projects", message);
                None
            }
            rights => rights.ok(),
        };
        let expires_at = expires_at.flatten();
        let proof = trust.flatten().map_or(NewProof::Value(value), NewProof::Trust);
        body.finish(|| Some(Self { name: name?, proof, rights: rights?, expires_at }))
    }
}

fn read_trust(mut body: BodyFields, targets: AllowedTargets) -> Result<TokenTrust> {
    let issuer = body.required("issuer", |text| IssuerUrl::parse(text, targets));
    let subject = body.required("subject", ClaimText::parse);
    let claims = body.texts("claims", MAX_CLAIMS, |name, text| {
        TokenTrust::check_claim(name)?;
        ClaimText::parse(text)
    });
    let claims: BTreeMap<String, ClaimText> = claims.unwrap_or_default();
    body.finish(|| Some(TokenTrust { issuer: issuer?, subject: subject?, claims }))
}

//! A company and its named tokens as clients see them.

use serde::Serialize;
use shared::domain::company::Company;
use shared::domain::named_token::NamedToken;
use shared::http::reference::References;
use shared::http::respond::timestamp;

/// A company as clients see it.
#[derive(Serialize)]
pub(crate) struct CompanyView {
    resource_uri: String,
    name: String,
    address: String,
    city: String,
    postcode: String,
    country: String,
    phone: String,
    default_interview_period: Option<u32>,
    default_maximum_score: u32,
    default_project_lang: &'static str,
    registration_email: String,
    timezone: String,
}

impl CompanyView {
    /// The view of a company.
    pub(crate) fn new(company: &Company, references: References<'_>) -> Self {
        Self {
            resource_uri: references.company(&company.id),
            name: company.name.to_string(),
            address: company.address.to_string(),
            city: company.city.to_string(),
            postcode: company.postcode.to_string(),
            country: company.country.to_string(),
            phone: company.phone.to_string(),
            default_interview_period: company.default_interview_period,
            default_maximum_score: company.default_maximum_score,
            default_project_lang: company.default_project_lang.code(),
            registration_email: company.registration_email.to_string(),
            timezone: company.timezone.to_string(),
        }
    }
}

/// A named token as clients see it: all but its value.
#[derive(Serialize)]
pub(crate) struct TokenView {
    resource_uri: String,
    company: String,
    name: String,
    created_at: String,
    created_by: String,
}

impl TokenView {
    /// The view of a named token.
    pub(crate) fn new(token: &NamedToken, references: References<'_>) -> Self {
        Self {
            resource_uri: references.token(&token.company, token.id),
            company: references.company(&token.company),
            name: token.name.to_string(),
            created_at: timestamp(token.created_at),
            created_by: references.customer(&token.company, token.created_by),
        }
    }
}

/// A named token as its creator sees it, once.
#[derive(Serialize)]
pub(crate) struct NewTokenView {
    #[serde(flatten)]
    token: TokenView,
    value: String,
}

impl NewTokenView {
    /// The view of a new named token with this value.
    pub(crate) fn new(token: &NamedToken, value: String, references: References<'_>) -> Self {
        Self { token: TokenView::new(token, references), value }
    }
}

//! A company as clients see it.

use serde::Serialize;
use shared::domain::company::Company;
use shared::http::reference::References;

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

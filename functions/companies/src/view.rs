//! Views of a company and its legal texts.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;
use shared::domain::company::Company;
use shared::domain::id::CompanyId;
use shared::domain::language::Language;
use shared::domain::privacy::legal::{LegalKind, LegalText, LegalTextId};
use shared::domain::project::contact::Contact;
use shared::domain::staff::sign_in::SignInSettings;
use shared::http::example_uri;
use shared::http::reference::ReferenceUris;
use shared::http::view::ContactView;
use shared::http::wire::{Identifier, Timestamp, Uri};

/// A company.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Company")]
pub(crate) struct CompanyView {
    id: Identifier<CompanyId>,
    /// The URL of the resource.
    #[schemars(example = example_uri::COMPANY)]
    resource_uri: Uri,
    /// The display name.
    #[schemars(example = &"Acme Ltd", length(min = 1))]
    name: String,
    /// Postal address, in several lines.
    address: String,
    /// City.
    #[schemars(example = &"London")]
    city: String,
    /// Postcode.
    #[schemars(example = &"SW1Y 4JH")]
    postcode: String,
    /// Country.
    #[schemars(example = &"United Kingdom")]
    country: String,
    /// Telephone number.
    #[schemars(example = &"+44 20 7946 0000")]
    phone: String,
    /// Days until the deadline that a candidate without one gets with the invitation, unless the project sets its own
    /// number; null for no deadline.
    #[schemars(example = 14)]
    default_interview_period: Option<u32>,
    /// The maximum score of new projects.
    #[schemars(example = 10)]
    default_maximum_score: u32,
    /// The default language of projects.
    default_project_lang: Language,
    /// The address for candidates' questions, shown in mails; empty for none.
    #[schemars(example = &"ada@example.com")]
    registration_email: String,
    /// The application where the company's staff work, and where pages for them link to. Empty for the deployment's
    /// application.
    #[schemars(example = &"https://app.example.com/")]
    app_url: String,
    /// The IANA name of the time zone of times in mails; empty for UTC.
    #[schemars(example = &"Europe/London")]
    timezone: String,
    /// The URL of the logo, which needs no credentials; null for none. It stays when the logo is replaced.
    #[schemars(example = example_uri::LOGO)]
    logo: Option<Uri>,
}

impl CompanyView {
    pub(crate) fn new(company: &Company, references: ReferenceUris<'_>) -> Self {
        Self {
            id: Identifier(company.id.clone()),
            resource_uri: references.company(&company.id),
            name: company.name.to_string(),
            address: company.address.to_string(),
            city: company.city.to_string(),
            postcode: company.postcode.to_string(),
            country: company.country.to_string(),
            phone: company.phone.to_string(),
            default_interview_period: company.default_interview_period,
            default_maximum_score: company.default_maximum_score,
            default_project_lang: company.default_project_lang,
            registration_email: company.registration_email.to_string(),
            app_url: company.app_url.as_str().to_owned(),
            timezone: company.timezone.to_string(),
            logo: references.logo(company),
        }
    }
}

/// The public data of a company's login: name, logo and contact.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "CompanyLogin")]
pub(crate) struct CompanyLoginView {
    /// The URL of the company.
    #[schemars(example = example_uri::COMPANY)]
    company: Uri,
    /// The display name of the company.
    #[schemars(example = &"Acme Ltd", length(min = 1))]
    name: String,
    /// The URL of the logo, which needs no credentials; null for none.
    #[schemars(example = example_uri::LOGO)]
    logo: Option<Uri>,
    /// The contact for questions of candidates.
    contact: ContactView,
    /// The application where the company's staff work: the company's own, otherwise the deployment's; empty for none.
    #[schemars(example = &"https://app.example.com/")]
    app_url: String,
    /// The URL to sign in by the company's provider; null if staff log in with passwords only. Open it in a browser,
    /// with `return_to`.
    #[schemars(example = example_uri::SIGN_IN_URL)]
    sign_in_url: Option<Uri>,
}

impl CompanyLoginView {
    /// The view of a company's login, with its sign-in settings.
    pub(crate) fn new(
        company: &Company,
        sign_in_settings: &SignInSettings,
        references: ReferenceUris<'_>,
    ) -> Self {
        Self {
            company: references.company(&company.id),
            name: company.name.to_string(),
            logo: references.logo(company),
            contact: Contact::of_company(company).into(),
            app_url: references.application(company).unwrap_or_default().to_owned(),
            sign_in_url: sign_in_settings.working_provider().map(|_| references.sign_in_url(&company.id)),
        }
    }
}

/// One version of a legal text. It never changes.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "LegalText")]
pub(crate) struct LegalTextView {
    id: Identifier<LegalTextId>,
    /// The URL of the resource.
    #[schemars(example = example_uri::LEGAL_TEXT)]
    resource_uri: Uri,
    /// The kind of text.
    kind: LegalKind,
    /// The version number within its kind, from 1.
    #[schemars(example = 3)]
    version: u32,
    /// The text by language, or its URL. It is plain text: escape it, and make links only of `https` URLs. Empty for
    /// the version that retires the kind.
    #[schemars(example = &BTreeMap::from([("en", "https://acme.example/privacy")]))]
    texts: BTreeMap<Language, String>,
    /// Whether candidates must accept this version to advance, while it is the current one.
    is_required: bool,
    /// When the resource was created.
    created_at: Timestamp,
}

impl LegalTextView {
    /// The view of a legal text, with its wording only in `language` if one is given.
    pub(crate) fn new(text: &LegalText, language: Option<Language>, references: ReferenceUris<'_>) -> Self {
        let shown = text.texts.iter().filter(|(known, _)| language.is_none_or(|wanted| wanted == **known));
        Self {
            id: Identifier(text.id),
            resource_uri: references.legal_text(&text.company, text.id),
            kind: text.id.kind,
            version: text.id.version,
            texts: shown.map(|(language, wording)| (*language, wording.to_string())).collect(),
            is_required: text.is_required,
            created_at: Timestamp(text.created_at),
        }
    }
}

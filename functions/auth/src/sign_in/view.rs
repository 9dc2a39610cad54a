//! The view of sign-in settings.

use schemars::JsonSchema;
use serde::Serialize;
use shared::domain::history::ResourceRef;
use shared::domain::issuer::IssuerUrl;
use shared::domain::staff::sign_in::{
    MAX_BREAK_GLASS, MAX_DOMAINS, MailDomain, NotedSignInProblem, SignInProblem, SignInProvider,
    SignInSettings,
};
use shared::domain::staff::trust::ClaimText;
use shared::http::example_uri;
use shared::http::reference::ReferenceUris;
use shared::http::wire::{Timestamp, Uri};

/// The company's provider for the sign-in of staff.
#[derive(Clone, Serialize, JsonSchema)]
#[schemars(rename = "SignIn")]
pub(crate) struct SignInView {
    /// The URL of the resource.
    #[schemars(example = example_uri::SIGN_IN)]
    resource_uri: Uri,
    /// The URL of the provider, equal to `iss` in its tokens.
    #[schemars(example = &"https://login.acme.example")]
    issuer: IssuerUrl,
    /// The client identifier of this service at the provider.
    #[schemars(example = &"interviews")]
    client_id: ClaimText,
    /// The domains whose email addresses link an account at the first sign-in. Subdomains are not included.
    #[schemars(length(min = 1, max = MAX_DOMAINS))]
    domains: Vec<MailDomain>,
    /// Whether the first sign-in may use an address that the provider does not call verified. Use it only for a
    /// provider whose accounts all belong to your company.
    trusts_addresses: bool,
    /// Whether staff may sign in only by the provider.
    required: bool,
    /// Up to two owners who may keep using their passwords.
    #[schemars(length(max = MAX_BREAK_GLASS), example = [example_uri::CUSTOMER])]
    break_glass: Vec<Uri>,
    /// False if the service cannot read the client secret: nobody can sign in until `client_secret` is sent again. This
    /// happens after an import from an archive, and if the operator has lost the encryption key.
    is_working: bool,
    /// The redirect URL to register at the provider.
    #[schemars(example = example_uri::SIGN_IN_CALLBACK)]
    redirect_uri: Uri,
    /// The URL where people sign in.
    #[schemars(example = example_uri::SIGN_IN_URL)]
    sign_in_url: Uri,
    /// Why sign-in by the provider failed because of its settings; null if there was no such problem. It stays after a
    /// successful sign-in, until the settings change. The service records at most one problem an hour, and none that a
    /// stranger could provoke.
    last_problem: Option<ProblemView>,
}

/// Why sign-in failed.
#[derive(Clone, Serialize, JsonSchema)]
#[schemars(rename = "SignInProblem")]
struct ProblemView {
    code: SignInProblem,
    /// When the problem occurred.
    at: Timestamp,
}

impl SignInView {
    /// The view of the settings. `is_working` tells whether the service can decrypt the client secret.
    pub(super) fn new(
        settings: &SignInSettings,
        provider: &SignInProvider,
        is_working: bool,
        references: ReferenceUris<'_>,
    ) -> Self {
        let SignInSettings { company, last_problem, .. } = settings;
        let problem =
            |noted: NotedSignInProblem| ProblemView { code: noted.problem, at: Timestamp(noted.at) };
        let break_glass = provider.break_glass.iter().map(|owner| references.uri(company, *owner));
        Self {
            resource_uri: references.resource(company, ResourceRef::SignIn),
            issuer: provider.issuer.clone(),
            client_id: provider.client_id.clone(),
            domains: provider.domains.iter().cloned().collect(),
            trusts_addresses: provider.trusts_addresses,
            required: provider.required,
            break_glass: break_glass.collect(),
            is_working,
            redirect_uri: references.sign_in_callback(company),
            sign_in_url: references.sign_in_url(company),
            last_problem: last_problem.map(problem),
        }
    }
}

/// The settings after a change.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ChangedSignIn")]
pub(crate) struct ChangedSignInView {
    #[serde(flatten)]
    settings: SignInView,
    /// How many customers must be linked again, because the issuer or client has changed.
    #[schemars(example = 0)]
    ended_links: usize,
}

impl ChangedSignInView {
    pub(super) fn new(settings: SignInView, ended_links: usize) -> Self {
        Self { settings, ended_links }
    }
}

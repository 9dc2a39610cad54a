//! The settings of sign-in, as clients see them.

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

/// The provider by which the staff of a company sign in.
#[derive(Clone, Serialize, JsonSchema)]
#[schemars(rename = "SignIn")]
pub(crate) struct SignInView {
    /// The URL of the resource.
    #[schemars(example = example_uri::SIGN_IN)]
    resource_uri: Uri,
    /// The URL of the provider, as `iss` has it.
    #[schemars(example = &"https://login.acme.example")]
    issuer: IssuerUrl,
    /// The name of this service at the provider.
    #[schemars(example = &"interviews")]
    client_id: ClaimText,
    /// The domains whose addresses link an account when its holder signs in for the first time. Addresses below them do not count.
    #[schemars(length(min = 1, max = MAX_DOMAINS))]
    domains: Vec<MailDomain>,
    /// Whether addresses count for the first sign-in that the provider does not call verified. Only for a provider whose accounts are
    /// all of your company.
    trusts_addresses: bool,
    /// Whether staff may sign in by the provider alone.
    required: bool,
    /// Up to two owners who may go on with their passwords while they are owners.
    #[schemars(length(max = MAX_BREAK_GLASS), example = [example_uri::CUSTOMER])]
    break_glass: Vec<Uri>,
    /// False while the service has no client secret that it can read: nobody signs in until `client_secret` is sent again. So it is after
    /// an import from an archive, and after the operator has lost the key that seals secrets.
    is_working: bool,
    /// The address to register at the provider, to which it sends people back.
    #[schemars(example = example_uri::SIGN_IN_CALLBACK)]
    redirect_uri: Uri,
    /// The address where people sign in.
    #[schemars(example = example_uri::SIGN_IN_URL)]
    sign_in_url: Uri,
    /// Why nobody could sign in by the provider as it is set; null if no such problem was met. It stays when somebody signs in later, until
    /// the settings change. At most one is noted in an hour, and none that a stranger could make up.
    last_problem: Option<ProblemView>,
}

/// Why nobody could sign in.
#[derive(Clone, Serialize, JsonSchema)]
#[schemars(rename = "SignInProblem")]
struct ProblemView {
    code: SignInProblem,
    /// When a sign-in met the problem.
    at: Timestamp,
}

impl SignInView {
    /// The view of settings with this provider. `is_working` tells whether the service can read the client secret.
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
    /// How many customers have to be linked again, because the issuer or the client is another one.
    #[schemars(example = 0)]
    ended_links: usize,
}

impl ChangedSignInView {
    pub(super) fn new(settings: SignInView, ended_links: usize) -> Self {
        Self { settings, ended_links }
    }
}

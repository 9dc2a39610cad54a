//! Request and response bodies of login.

use std::collections::BTreeSet;

use axum::http::header::SET_COOKIE;
use axum::response::{AppendHeaders, IntoResponse, Response};
use chrono::{DateTime, Utc};
use schemars::JsonSchema;
use serde::Serialize;
use shared::auth::access::{Admitted, AnyCandidate, OwnCandidacy};
use shared::auth::caller::CallerIdentity;
use shared::auth::credential::COOKIE;
use shared::auth::login::{KeyHolder, KeyPurpose};
use shared::auth::password::Password;
use shared::config::Config;
use shared::domain::id::{CompanyId, ProjectId};
use shared::domain::language::Language;
use shared::domain::policy::{Action, CallerRelation};
use shared::domain::project::contact::Contact;
use shared::domain::project::{InterviewPlatform, Project};
use shared::domain::text::{Email, Username};
use shared::http::example_uri;
use shared::http::reference::ReferenceUris;
use shared::http::view::{
    CandidateFieldsView, CandidateView, CandidateViewer, ContactView, CustomerView, PlacedVideoView,
};
use shared::http::wire::{Identifier, OrEmpty, Timestamp, Uri};
use shared::http::{BodyFields, ViewSchema};
use shared::openapi::{DescribeResponse, OperationDoc};
use shared::store::{OpenedKeys, Session, SessionKind};
use shared::{Error, Result};

use crate::token_rights::{CallingTokenRightsView, allowed};

/// The maximum characters of a user name or company in a login. No account has longer ones.
const MAX_NAME: usize = 254;

/// The body of a login.
pub(crate) struct LoginBody {
    /// The user name or email address.
    pub(crate) username: String,
    /// `None` if the caller logs in on behalf of another user.
    pub(crate) password: Option<Password>,
    pub(crate) company: String,
    /// The lifetime of the token in days, regardless of use; `None` if it expires when unused.
    pub(crate) days: Option<u8>,
}

impl LoginBody {
    /// Reads the body of a login by cookie.
    pub(crate) fn read(mut body: BodyFields) -> Result<Self> {
        body.require("password");
        // Clients may send the same body to both logins, so ignore the field for tokens.
        body.ignore("extended_expiration_period");
        Self::read_with(body, |_| None)
    }

    /// Reads the body of a login by token, which may set the token's lifetime. The password may be missing only if
    /// `for_others`.
    pub(crate) fn read_for_token(mut body: BodyFields, for_others: bool) -> Result<Self> {
        if !for_others {
            body.require("password");
        }
        Self::read_with(body, |body| {
            let days = body.clearable_integer("extended_expiration_period", 1, 30)?;
            days.and_then(|days| u8::try_from(days).ok())
        })
    }

    fn read_with(mut body: BodyFields, days: impl FnOnce(&mut BodyFields) -> Option<u8>) -> Result<Self> {
        let username = body.required("username", name);
        let password = body.text("password", Password::attempt);
        let company = body.required("company", name);
        let days = days(&mut body);
        body.finish(|| Some(Self { username: username?, password, company: company?, days }))
    }
}

/// Reads a user name or company.
pub(crate) fn name(text: &str) -> Result<String, String> {
    match text.trim() {
        "" => Err("This field may not be blank.".to_owned()),
        name if name.chars().count() > MAX_NAME => {
            Err(format!("Ensure this field has no more than {MAX_NAME} characters."))
        }
        name => Ok(name.to_owned()),
    }
}

/// A new token.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Token")]
pub(crate) struct SessionTokenView {
    /// Send it as `Authorization: Token <token>`.
    #[schemars(example = &"a long text of letters and digits")]
    pub(crate) token: String,
}

/// The caller, their permissions and their credential.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "WhoAmI")]
pub(crate) struct WhoAmIView {
    /// The caller's company.
    #[schemars(example = example_uri::COMPANY)]
    company: Uri,
    /// The kind of caller.
    kind: CallerKind,
    /// The caller's own customer or candidate; null for a named token.
    resource: ResourceView,
    /// The caller's permissions without a role in a project. A read-only token has only permissions to read.
    permissions: Vec<Action>,
    /// The caller's credential.
    token: ProofView,
    /// The rights of the named token. Missing for other callers.
    #[serde(skip_serializing_if = "Option::is_none")]
    rights: Option<CallingTokenRightsView>,
    /// The customer who acts on behalf of the caller; null otherwise.
    #[schemars(example = example_uri::CUSTOMER)]
    on_behalf_by: Option<Uri>,
}

/// The kinds of callers.
#[derive(Clone, Copy, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
enum CallerKind {
    /// A staff user.
    Customer,
    /// A candidate.
    Candidate,
    /// A service with a named token, not a person.
    NamedToken,
}

/// The kinds of credentials.
#[derive(Clone, Copy, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
enum ProofKind {
    /// A token from a login.
    Token,
    /// A cookie from a login.
    Cookie,
    /// The key of an invitation.
    ActivationKey,
    /// A named token, or a token exchanged for one.
    Named,
}

impl From<SessionKind> for ProofKind {
    fn from(kind: SessionKind) -> Self {
        match kind {
            SessionKind::Token => Self::Token,
            SessionKind::Cookie => Self::Cookie,
        }
    }
}

#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
#[schemars(inline)]
enum ResourceView {
    Customer(Box<CustomerView>),
    Candidate(Box<CandidateView>),
    None,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Proof")]
struct ProofView {
    /// The kind of credential.
    kind: ProofKind,
    /// When the credential expires: a session only if it is not used until then, a named or exchanged token in any
    /// case. Null if it does not expire.
    expires_at: Option<Timestamp>,
}

impl WhoAmIView {
    /// The view of a caller. `session` is the session and when it expires unless it is used; `None` for other
    /// credentials. `keys` contains the key of a calling candidate.
    ///
    /// # Errors
    /// [`Error::NotFound`] if the candidate's `project` is deleted; [`Error::Internal`] for a customer without a
    /// session.
    pub(crate) fn new(
        identity: &CallerIdentity,
        project: Option<&Project>,
        session: Option<(&Session, DateTime<Utc>)>,
        references: ReferenceUris<'_>,
        keys: OpenedKeys,
    ) -> Result<Self> {
        let (company, kind, relation, other_proof, resource) = match identity {
            CallerIdentity::Customer(customer) => {
                let relation = CallerRelation::Staff(customer.account_type, BTreeSet::new());
                let view = ResourceView::Customer(Box::new(CustomerView::new(customer, references)));
                (&customer.company, CallerKind::Customer, relation, None, view)
            }
            CallerIdentity::Candidate(candidate) => {
                let viewer =
                    CandidateViewer::this_candidate(project.ok_or(Error::NotFound)?, references, keys);
                let view = ResourceView::Candidate(Box::new(CandidateView::new(candidate, &viewer)));
                let key = (ProofKind::ActivationKey, candidate.key_ends_at());
                (&candidate.company, CallerKind::Candidate, CallerRelation::ThisCandidate, Some(key), view)
            }
            CallerIdentity::NamedToken(token) => {
                let proof = Some((ProofKind::Named, token.expires_at));
                let relation = identity.in_company();
                (&token.company, CallerKind::NamedToken, relation, proof, ResourceView::None)
            }
        };
        let proof = session.map(|(session, ends)| (session.kind.into(), Some(ends)));
        let (proof, ends) =
            proof.or(other_proof).ok_or_else(|| Error::internal("a customer without a session"))?;
        let on_behalf_by = session.and_then(|(session, _)| session.claim.on_behalf_by);
        Ok(Self {
            company: references.company(company),
            kind,
            resource,
            permissions: allowed(&relation).collect(),
            token: ProofView { kind: proof, expires_at: ends.map(Timestamp) },
            rights: match identity {
                CallerIdentity::NamedToken(token) => Some(CallingTokenRightsView::new(token, references)),
                CallerIdentity::Customer(_) | CallerIdentity::Candidate(_) => None,
            },
            on_behalf_by: on_behalf_by.map(|by| references.uri(company, by)),
        })
    }
}

impl WhoAmIView {
    /// Sets the time at which the credential expires, for a credential that expires before its named token.
    pub(crate) fn ending_at(mut self, end: DateTime<Utc>) -> Self {
        self.token.expires_at = Some(Timestamp(end));
        self
    }
}

/// The calling candidate, with their project and company.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "CandidateWhoAmI")]
pub(crate) struct CandidateWhoAmIView {
    #[serde(flatten)]
    candidate: CandidateFieldsView,
    /// The candidate's company.
    company: OwnCompanyView,
    /// The candidate's project.
    project: OwnProjectView,
    /// The contact for questions.
    contact: ContactView,
    /// The URL where the candidate can continue after the interview: the project's `return_url` with `candidate`, and
    /// `external_id` if there is one, added to its query; empty for none. If the candidate's key has ended with the
    /// interview, the error response contains the URL.
    #[schemars(example = &"https://jobs.example.com/done?from=interview&candidate=01JQ8ZB4T1H6W5Y7X3Q9E2G0FA")]
    return_url: OrEmpty<Uri>,
    /// The company's message about the reopened interview, until the interview is complete again; empty without one.
    #[schemars(example = &"")]
    message: String,
    /// Seconds until the deadline; 0 after it, null if there is none.
    #[schemars(example = 86400)]
    seconds_until_deadline: Option<i64>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "OwnCompany")]
struct OwnCompanyView {
    id: Identifier<CompanyId>,
    /// The URL of the resource.
    #[schemars(example = example_uri::COMPANY)]
    resource_uri: Uri,
    /// The display name.
    #[schemars(example = &"Acme Ltd", length(min = 1))]
    name: String,
    /// The IANA name of the company's time zone; empty for UTC.
    #[schemars(example = &"Europe/London")]
    timezone: String,
    /// The URL of the logo, which needs no credentials; null for none.
    #[schemars(example = example_uri::LOGO)]
    logo: Option<Uri>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "OwnProject")]
struct OwnProjectView {
    id: Identifier<ProjectId>,
    /// The URL of the resource.
    #[schemars(example = example_uri::PROJECT)]
    resource_uri: Uri,
    /// The display name.
    #[schemars(example = &"Backend engineer", length(min = 1))]
    name: String,
    /// The URL of the public job listing; empty for none.
    #[schemars(example = &"")]
    job_url: String,
    /// The language of the interview.
    support_lang: Language,
    /// The language with its country.
    #[schemars(example = &"en-GB")]
    language: &'static str,
    /// Where the interview is taken: in this service or elsewhere.
    interview_platform: InterviewPlatform,
    /// The project's welcome videos, in display order.
    videos: Vec<PlacedVideoView>,
}

impl CandidateWhoAmIView {
    /// The view of the calling candidate. `keys` contains their key.
    pub(crate) fn new(access: &Admitted<OwnCandidacy, AnyCandidate>, keys: OpenedKeys) -> Self {
        let references = access.references();
        let company = &access.target.company;
        let project = &access.target.project;
        let language = project.settings.support_lang.unwrap_or(company.default_project_lang);
        let candidate = &access.target.candidate;
        let left = candidate.profile.deadline.map(|deadline| deadline - access.now);
        Self {
            candidate: CandidateFieldsView::new(
                candidate,
                &CandidateViewer::this_candidate(project, references, keys),
            ),
            company: OwnCompanyView {
                id: Identifier(company.id.clone()),
                resource_uri: references.company(&company.id),
                name: company.name.to_string(),
                timezone: company.timezone.to_string(),
                logo: references.logo(company),
            },
            project: OwnProjectView {
                id: Identifier(project.id),
                resource_uri: references.uri(&company.id, project.id),
                name: project.settings.name.to_string(),
                job_url: project.settings.job_url.as_str().to_owned(),
                interview_platform: project.settings.interview_platform,
                support_lang: language,
                language: language.iso(),
                videos: PlacedVideoView::all_of(project, references),
            },
            contact: Contact::of(project, company).into(),
            return_url: OrEmpty(candidate.return_url(project).map(Uri::new)),
            message: candidate.reopening_message().map(ToString::to_string).unwrap_or_default(),
            seconds_until_deadline: left.map(|left| left.num_seconds().max(0)),
        }
    }
}

/// The account that a mailed key belongs to.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "KeyHolder")]
pub(crate) struct KeyHolderView {
    /// The kind of account; never `named_token`.
    kind: CallerKind,
    /// The name to log in with; for a candidate without one, the address that received the key.
    #[schemars(example = &"grace")]
    username: String,
    /// The address that received the key: to confirm it, to restore it, or to choose a password. Empty if there is
    /// none.
    #[schemars(example = &"grace@example.com")]
    email: OrEmpty<Email>,
    /// The company of the account.
    #[schemars(example = example_uri::COMPANY)]
    company: Uri,
}

impl KeyHolderView {
    /// The view of a key's account; `None` for a named token, which has no password.
    pub(crate) fn new(holder: KeyHolder, references: ReferenceUris<'_>) -> Option<Self> {
        let KeyHolder { identity, purpose } = holder;
        let (kind, username, email) = match &identity {
            CallerIdentity::Customer(customer) => {
                let email = match &purpose {
                    KeyPurpose::Password => &customer.email,
                    KeyPurpose::Confirmation => customer.shown_email(),
                    KeyPurpose::Restoration(former) => &former.email,
                };
                (CallerKind::Customer, customer.username.as_str().to_owned(), Some(email.clone()))
            }
            CallerIdentity::Candidate(candidate) => {
                let email = match &purpose {
                    KeyPurpose::Password => candidate.profile.email.as_ref(),
                    KeyPurpose::Confirmation => candidate.shown_email(),
                    KeyPurpose::Restoration(former) => Some(&former.email),
                };
                let username = candidate.profile.username.as_ref().map(Username::as_str);
                // The reader of a mail to one address must not learn another address.
                let name = match purpose {
                    KeyPurpose::Password => email.map(Email::as_str).or(username),
                    KeyPurpose::Confirmation | KeyPurpose::Restoration(_) => {
                        username.or(email.map(Email::as_str))
                    }
                };
                (CallerKind::Candidate, name.unwrap_or_default().to_owned(), email.cloned())
            }
            CallerIdentity::NamedToken(_) => return None,
        };
        let company = references.company(identity.company());
        Some(Self { kind, username, email: OrEmpty(email), company })
    }
}

/// A response that also sets a cookie. The first field is the `Set-Cookie` value.
pub(crate) struct WithCookie<T>(pub(crate) String, pub(crate) T);

impl<T: IntoResponse> IntoResponse for WithCookie<T> {
    fn into_response(self) -> Response {
        (AppendHeaders([(SET_COOKIE, self.0)]), self.1).into_response()
    }
}

impl<T: DescribeResponse> DescribeResponse for WithCookie<T> {
    const SHOWS: Option<ViewSchema> = T::SHOWS;

    fn describe(operation: &mut OperationDoc) {
        T::describe(operation);
        operation.sets_cookie();
    }
}

/// The `Set-Cookie` value that stores a session's secret in the browser.
pub(crate) fn cookie(secret: &str, config: &Config) -> String {
    format!("{COOKIE}={secret}; {}", attributes(config))
}

/// The `Set-Cookie` value that deletes the session's cookie.
pub(crate) fn expired_cookie(config: &Config) -> String {
    format!("{COOKIE}=; Max-Age=0; {}", attributes(config))
}

fn attributes(config: &Config) -> String {
    let secure = if config.is_cookie_secure() { "Secure; " } else { "" };
    format!("HttpOnly; {secure}SameSite=Lax; Path={}", config.base_url.path())
}

//! An admitted request: its caller, and the exchange that makes the response.

use std::collections::BTreeSet;
use std::ops::Deref;
use std::time::Duration;

use crate::auth::caller::{AuthMethod, Caller, CallerIdentity};
use crate::auth::credential::{GuestKey, SecretKind, new_token_value};
use crate::domain::Refusal;
use crate::domain::account::{Account, CredentialClaim};
use crate::domain::candidate::Candidate;
use crate::domain::id::{CandidateId, CompanyId, CustomerId, GuestLinkId, ProjectId, TokenId, WebhookId};
use crate::domain::issuer::{IssuerFault, IssuerUrl};
use crate::domain::policy::{Action, CallerRelation};
use crate::domain::project::Project;
use crate::domain::secret::{AccessKey, Sealed, SecretHash};
use crate::domain::staff::customer::{AccountType, Customer};
use crate::domain::staff::named_token::TokenProof;
use crate::domain::webhook::SigningSecret;
use crate::error::{Error, Result};
use crate::http::HttpExchange;
use crate::http::files::FileWriter;
use crate::http::reference::ReferenceUris;
use crate::http::view::CandidateViewer;
use crate::media::FileUrlSigner;
use crate::store::{VersionedItem, keys};

/// The credential of the request is not a session.
pub const NO_SESSION: Refusal = Refusal {
    code: "no_session",
    detail: "This credential is not a session. Only the tokens and cookies of a login can be invalidated here.",
};

/// How long the response waits at most for the write that records the opening.
const OPENING_PATIENCE: Duration = Duration::from_secs(4);

/// An admitted request: its caller, and the exchange that makes the response.
pub struct AdmittedRequest {
    pub caller: Caller,
    /// `None` for a request by a file's URL: its response contains no file URLs.
    pub(super) signer: Option<FileUrlSigner>,
    pub(super) exchange: HttpExchange,
}

impl Deref for AdmittedRequest {
    type Target = HttpExchange;

    fn deref(&self) -> &HttpExchange {
        &self.exchange
    }
}

impl AdmittedRequest {
    pub(super) fn about<T>(self, resource: &VersionedItem<T>) -> Self {
        self.about_revision(resource.revision())
    }

    pub(super) fn about_revision(mut self, revision: u64) -> Self {
        // A POST creates a different resource than the one that its path names.
        self.exchange.revision = Some(revision).filter(|_| !self.exchange.is_post);
        self
    }

    /// The caller's company; also the company in the path, if the path names one.
    pub fn company_id(&self) -> &CompanyId {
        self.caller.company()
    }

    /// Makes and parses the URLs of resources, including file URLs for this caller.
    pub fn references(&self) -> ReferenceUris<'_> {
        let references = ReferenceUris::new(self.config());
        match &self.signer {
            Some(signer) => references.signed_by(signer),
            None => references,
        }
    }

    /// Adds the URL of the resource that has the `external_id` to [`Error::ExternalIdTaken`]; returns other errors unchanged.
    /// Call it only if the caller may see that resource.
    pub fn name_holder(&self, error: Error) -> Error {
        match error {
            Error::ExternalIdTaken { holder: Some(holder), .. } => {
                let uri = self.references().resource(self.company_id(), holder);
                Error::ExternalIdTaken { holder: Some(holder), resource_uri: Some(uri.to_string()) }
            }
            error => error,
        }
    }

    /// Writes files and prepares uploads on behalf of the caller.
    pub fn files(&self) -> Result<FileWriter<'_>> {
        let company = self.company_id();
        let author = self.caller.author();
        Ok(FileWriter { store: &self.store, objects: self.objects()?, company, author, now: self.now })
    }

    /// A new key by which the candidate acts without a password.
    pub async fn new_access_key(&self, project: ProjectId, candidate: CandidateId) -> Result<AccessKey> {
        let account = Account::Candidate { project, candidate };
        let owner = CredentialClaim::own(self.company_id().clone(), account);
        let secret = SecretKind::AccessKey.generate(&owner, self.app.entropy());
        self.store.seal_access_key(self.company_id(), project, candidate, &secret).await
    }

    /// The caller as a viewer of `candidates` of `project`; `relation` is the caller's relation to that project.
    pub async fn candidate_viewer<'a, 'c>(
        &'a self,
        relation: &CallerRelation,
        project: &'a Project,
        candidates: impl IntoIterator<Item = &'c Candidate>,
    ) -> Result<CandidateViewer<'a>> {
        let viewer =
            CandidateViewer::new(self.caller.customer(), relation, project, self.references(), self.now);
        viewer.opening(candidates, &self.store).await
    }

    /// A new key for a guest link.
    pub fn new_guest_key(&self, candidate: &Candidate, link: GuestLinkId) -> String {
        GuestKey::generate(candidate, link, self.app.entropy())
    }

    /// A new secret value for a named token.
    pub fn new_token_value(&self) -> String {
        new_token_value(self.app.entropy())
    }

    /// The stored form of a named token's value: its hash, and the sealed key that verifies the file URLs in responses to the token.
    pub async fn token_proof(&self, token: TokenId, value: &str) -> Result<TokenProof> {
        let media_key = self.store.seal_media_key(&keys::token(self.company_id(), token), value).await?;
        Ok(TokenProof::Value { hash: SecretHash::of(value), media_key })
    }

    /// Checks an issuer before the company trusts it: returns its fault, or `None` if its keys can be read. Queries the issuer at
    /// most once a minute. Fails with [`Error::Throttled`] if the company has caused too many queries.
    pub async fn fault_of(&self, issuer: &IssuerUrl) -> Result<Option<IssuerFault>> {
        if !self.app.knows_issuer(issuer) {
            self.store.count_look_at_issuer(self.company_id(), self.now).await?;
        }
        Ok(self.app.issuer_metadata(issuer, None).await.err())
    }

    /// Tells an owner why people cannot sign in by this issuer; `None` if they can. Queries the issuer at most once a minute.
    /// Fails with [`Error::Throttled`] if the company has caused too many queries.
    pub async fn problem_of_provider(&self, issuer: &IssuerUrl) -> Result<Option<&'static str>> {
        Ok(match self.fault_of(issuer).await? {
            Some(IssuerFault::Unreachable) => Some("The issuer cannot be reached. Try again when it can."),
            Some(fault) => Some(fault.advice()),
            None => {
                let metadata = self.app.issuer_metadata(issuer, None).await;
                metadata.ok().and_then(|metadata| Some(metadata.endpoints.as_ref().err()?.advice()))
            }
        })
    }

    /// The sealed key that verifies the file URLs shown to a guest with `key`.
    pub async fn guest_media_key(
        &self,
        candidate: &Candidate,
        link: GuestLinkId,
        key: &str,
    ) -> Result<Sealed> {
        let Candidate { company, project, id, .. } = candidate;
        self.store.seal_media_key(&keys::guest_link(company, *project, *id, link), key).await
    }

    /// A new key that signs a webhook's deliveries: the key itself, for the response, and its sealed form, for the table.
    pub async fn new_signing_secret(&self, webhook: WebhookId) -> Result<(SigningSecret, Sealed)> {
        let secret = SigningSecret::generate(self.app.entropy());
        let sealed = self.store.seal_signing_secret(self.company_id(), webhook, &secret).await?;
        Ok((secret, sealed))
    }

    /// Whether the caller is this customer.
    pub fn is_own(&self, customer: &Customer) -> bool {
        self.caller.customer() == Some(customer.id)
    }

    /// Refuses the caller unless they are this customer or manage them.
    pub fn require_own_or_managed(&self, customer: &Customer) -> Result<()> {
        if self.is_own(customer) { Ok(()) } else { self.require_manages(customer.account_type) }
    }

    /// Refuses the caller unless they manage customers of this account type.
    pub fn require_manages(&self, other: AccountType) -> Result<()> {
        if self.caller.identity.manages(other) { Ok(()) } else { Err(self.lacks(Action::ManageCustomers)) }
    }

    /// The error for a caller who lacks this permission.
    pub fn lacks(&self, permission: Action) -> Error {
        Error::MissingPermission { permission, is_token: self.caller.in_company().is_token() }
    }

    /// The customers whom the caller may see; `None` for all of the company. Reads the projects to which a token is limited.
    pub async fn visible_customers(&self) -> Result<Option<BTreeSet<CustomerId>>> {
        let Some(projects) = self.caller.limits() else { return Ok(None) };
        let projects = self.store.projects(self.company_id(), projects.iter().copied()).await?;
        let staff = projects.iter().flat_map(|project| project.staff.roles());
        Ok(Some(staff.map(|held| held.customer).collect()))
    }

    /// Whether the caller is an owner who has logged in themselves, not a token and not somebody acting on their behalf.
    pub fn is_owner_in_person(&self) -> bool {
        self.caller.staff_in_person().is_some_and(|own| own.account_type == AccountType::Owner)
    }

    /// Whether the caller sees every project in which the customer has a role or a share of a candidate.
    pub async fn sees_all_projects_of(&self, customer: &Customer) -> Result<bool> {
        let Some(visible) = self.visible_projects().await? else { return Ok(true) };
        let (roles, shares) = tokio::try_join!(
            self.store.project_ids_of(&customer.company, customer.id),
            self.store.shared_with(&customer.company, customer.id),
        )?;
        let shares = shares.into_iter().map(|share| share.project);
        Ok(roles.into_iter().chain(shares).all(|project| visible.contains(&project)))
    }

    /// Fails for the first customer whom the caller may not see, with the error for a customer who does not exist. Each
    /// customer comes with the name of its field.
    // Without this check, a token limited to projects could see any customer after giving them a role or a share.
    pub async fn require_visible(&self, customers: &[(&str, CustomerId)]) -> Result<()> {
        let Some(visible) = self.visible_customers().await? else { return Ok(()) };
        match customers.iter().find(|(_, customer)| !visible.contains(customer)) {
            Some((field, hidden)) => {
                Err(Error::field(field, format!("Customer {hidden} does not exist or is inactive.")))
            }
            None => Ok(()),
        }
    }

    /// The projects that the caller may see, oldest first; `None` for all of the company.
    pub async fn visible_projects(&self) -> Result<Option<Vec<ProjectId>>> {
        if Action::SeeAllProjects.is_allowed(&self.caller.in_company()) {
            return Ok(None);
        }
        match &self.caller.identity {
            CallerIdentity::Customer(own) => {
                self.store.project_ids_of(self.company_id(), own.id).await.map(Some)
            }
            CallerIdentity::NamedToken(token) => Ok(Some(token.rights.projects.iter().copied().collect())),
            CallerIdentity::Candidate(_) => Ok(Some(Vec::new())),
        }
    }

    /// If the caller is a candidate, records concurrently with the request that they have opened the interview. Does nothing if
    /// that is recorded already, and for HEAD. A failure is logged and does not fail the request.
    // The caller is the candidate in person, because nobody can log in on behalf of candidates.
    pub fn note_opening(&self) {
        let Some(own) = self.caller.candidate() else { return };
        if own.opened_at.is_some() || self.exchange.is_head {
            return;
        }
        let (company, project, candidate) = (own.company.clone(), own.project, own.id);
        let store = self.store.clone().with_patience(OPENING_PATIENCE);
        let now = self.now;
        self.state.run_alongside(async move { store.note_opening(&company, project, candidate, now).await });
    }

    /// Ends the session or exchanged token of the request. Fails with [`NO_SESSION`] for other credentials.
    pub async fn end_session(&self) -> Result<()> {
        match &self.caller.auth_method {
            AuthMethod::Session(live) => self.store.end_session(&live.key).await,
            AuthMethod::ExchangedToken(live) => self.store.end_session(&live.key).await,
            AuthMethod::AccessKey | AuthMethod::EndedKey | AuthMethod::NamedToken => Err(NO_SESSION.into()),
        }
    }
}

//! The caller: identity, credential and rights.

use std::collections::BTreeSet;

use chrono::{DateTime, Utc};

use super::credential::invalid_credential;
use crate::domain::account::{Account, CredentialClaim, Principal};
use crate::domain::candidate::{Candidate, CandidateProfile, KeyEnd};
use crate::domain::history::ChangeOrigin;
use crate::domain::id::{CompanyId, CustomerId, ProjectId};
use crate::domain::media::upload::UploadAuthor;
use crate::domain::policy::CallerRelation;
use crate::domain::project::Project;
use crate::domain::secret::{PasswordHash, Sealed, SecretHash};
use crate::domain::staff::ProjectStaff;
use crate::domain::staff::customer::{AccountType, Customer};
use crate::domain::staff::named_token::NamedToken;
use crate::domain::text::{Email, Username};
use crate::error::Result;
use crate::store::{ItemKey, Session, VersionedItem};

/// An authenticated caller.
#[derive(Debug)]
pub struct Caller {
    /// Who is calling.
    pub identity: CallerIdentity,
    /// How the caller authenticated.
    pub auth_method: AuthMethod,
}

/// The account or named token of a caller.
#[derive(Debug)]
pub enum CallerIdentity {
    /// A staff user.
    Customer(VersionedItem<Customer>),
    Candidate(VersionedItem<Candidate>),
    NamedToken(Box<NamedToken>),
}

/// The credential that a caller authenticated with.
#[derive(Debug)]
pub enum AuthMethod {
    /// The token or cookie of a session.
    Session(Box<LiveSession>),
    /// A candidate's access key.
    AccessKey,
    /// A candidate's ended key, with which they may only ask for help.
    EndedKey,
    /// The value of a named token.
    NamedToken,
    /// A token that the client got in exchange for a JWT. It acts as a named token.
    ExchangedToken(Box<LiveExchangedToken>),
}

/// An exchanged token that has not expired.
#[derive(Debug)]
pub struct LiveExchangedToken {
    /// When the token expires.
    pub ends_at: DateTime<Utc>,
    pub(super) media_key: Sealed,
    pub(super) key: ItemKey,
}

/// A session that is neither expired nor revoked.
#[derive(Debug)]
pub struct LiveSession {
    pub session: Session,
    /// When the session expires, unless it is used before.
    pub ends: DateTime<Utc>,
    /// Whether this request extends the session.
    pub(super) is_extended: bool,
    pub(super) key: ItemKey,
}

impl Caller {
    /// The caller with an ended key, who may only ask for help. Fails if they may not even do that: a replaced key may be in
    /// other hands, and a withdrawn candidate has no interview.
    pub(super) fn by_ended_key(
        candidate: VersionedItem<Candidate>,
        end: KeyEnd,
        hash: &SecretHash,
    ) -> Result<Self> {
        match end {
            _ if !candidate.is_latest_key(hash) => Err(invalid_credential()),
            KeyEnd::Registered | KeyEnd::Completed | KeyEnd::Overdue => {
                Ok(Self { identity: CallerIdentity::Candidate(candidate), auth_method: AuthMethod::EndedKey })
            }
            KeyEnd::Withdrawn => Err(end.refusal().into()),
            KeyEnd::Replaced => Err(invalid_credential()),
        }
    }

    /// The company of the caller.
    pub fn company(&self) -> &CompanyId {
        self.identity.company()
    }

    /// The account or named token, independent of the credential that the caller used.
    pub fn principal(&self) -> Principal {
        match &self.identity {
            CallerIdentity::NamedToken(token) => Principal::NamedToken(token.id),
            CallerIdentity::Customer(customer) => Principal::Account(customer.account()),
            CallerIdentity::Candidate(candidate) => Principal::Account(candidate.account()),
        }
    }

    /// The origin of the request's changes: the caller, at `now`. `request` is the request's identifier.
    pub(super) fn origin(&self, request: Option<String>, now: DateTime<Utc>) -> ChangeOrigin {
        let on_behalf_by = match &self.auth_method {
            AuthMethod::Session(live) => live.session.claim.on_behalf_by,
            AuthMethod::AccessKey
            | AuthMethod::EndedKey
            | AuthMethod::NamedToken
            | AuthMethod::ExchangedToken(_) => None,
        };
        ChangeOrigin { on_behalf_by, request, ..ChangeOrigin::new(self.principal(), now) }
    }

    /// False if another user has logged in on behalf of the caller.
    pub fn is_in_person(&self) -> bool {
        !matches!(&self.auth_method, AuthMethod::Session(live) if live.session.claim.on_behalf_by.is_some())
    }

    /// The staff user who has logged in themselves; `None` for all other callers.
    pub fn staff_in_person(&self) -> Option<&Customer> {
        match &self.identity {
            CallerIdentity::Customer(own) if self.is_in_person() => Some(own),
            _ => None,
        }
    }

    /// The author to store with an upload, because the file arrives after the request.
    pub fn author(&self) -> UploadAuthor {
        match (&self.auth_method, self.principal()) {
            // Store the epoch: if the author's sessions are revoked before the file arrives, it must not be attached.
            (AuthMethod::Session(live), _) => {
                let Session { claim, epoch, actor_epoch, .. } = live.session.clone();
                UploadAuthor::Account { claim, epoch: Some(epoch), actor_epoch }
            }
            (_, Principal::Account(account)) => {
                let claim = CredentialClaim::own(self.company().clone(), account);
                UploadAuthor::Account { claim, epoch: None, actor_epoch: None }
            }
            (_, Principal::NamedToken(token)) => UploadAuthor::NamedToken { token },
        }
    }

    /// The email address of the caller; `None` for a named token.
    pub fn email(&self) -> Option<&Email> {
        match &self.identity {
            CallerIdentity::Customer(customer) => Some(&customer.email),
            CallerIdentity::Candidate(candidate) => candidate.profile.email.as_ref(),
            CallerIdentity::NamedToken(_) => None,
        }
    }

    /// The caller's display name.
    pub fn name(&self) -> String {
        match &self.identity {
            CallerIdentity::Customer(customer) => format!("{} {}", customer.first_name, customer.last_name),
            CallerIdentity::Candidate(candidate) => {
                format!("{} {}", candidate.profile.first_name, candidate.profile.last_name)
            }
            CallerIdentity::NamedToken(token) => token.name.to_string(),
        }
    }

    /// The caller's identifier; `None` unless they are a staff user.
    pub fn customer(&self) -> Option<CustomerId> {
        match &self.identity {
            CallerIdentity::Customer(customer) => Some(customer.id),
            CallerIdentity::Candidate(_) | CallerIdentity::NamedToken(_) => None,
        }
    }

    /// The caller; `None` unless they are a candidate.
    pub fn candidate(&self) -> Option<&Candidate> {
        match &self.identity {
            CallerIdentity::Candidate(candidate) => Some(candidate),
            CallerIdentity::Customer(_) | CallerIdentity::NamedToken(_) => None,
        }
    }

    /// The caller's relation to the company as a whole.
    pub fn in_company(&self) -> CallerRelation {
        self.identity.in_company()
    }

    /// The projects that the caller is limited to; `None` for all but named tokens with `projects`.
    pub fn limits(&self) -> Option<&BTreeSet<ProjectId>> {
        match &self.identity {
            CallerIdentity::NamedToken(token) => token.rights.limits(),
            CallerIdentity::Customer(_) | CallerIdentity::Candidate(_) => None,
        }
    }

    /// The caller's relation to the part of the company that they see: with [`limits`](Self::limits), their relation to those
    /// projects.
    pub fn within_limits(&self) -> CallerRelation {
        match &self.identity {
            CallerIdentity::NamedToken(token) => {
                token.rights.relation(token.rights.projects.first().copied())
            }
            identity => identity.in_company(),
        }
    }

    /// The caller's relation to a project of their company; `staff` is the project's staff.
    pub fn in_project(&self, project: ProjectId, staff: &ProjectStaff) -> CallerRelation {
        self.identity.in_project(project, staff)
    }

    /// The caller's relation to a candidate of a project of their company.
    pub fn towards(&self, candidate: &Candidate, project: &Project) -> CallerRelation {
        self.identity.towards(candidate, project)
    }
}

impl CallerIdentity {
    /// The caller's relation to the company as a whole; candidates are outsiders.
    pub fn in_company(&self) -> CallerRelation {
        self.relation(None)
    }

    pub(super) fn in_project(&self, project: ProjectId, staff: &ProjectStaff) -> CallerRelation {
        self.relation(Some((project, staff)))
    }

    fn relation(&self, project: Option<(ProjectId, &ProjectStaff)>) -> CallerRelation {
        match self {
            Self::Customer(customer) => {
                let roles = project.map(|(_, staff)| staff.roles_of(customer.id)).unwrap_or_default();
                CallerRelation::Staff(customer.account_type, roles)
            }
            Self::NamedToken(token) => token.rights.relation(project.map(|(id, _)| id)),
            Self::Candidate(_) => CallerRelation::OtherCandidate,
        }
    }

    /// Whether the caller may create, change and delete customers of this account type.
    pub(super) fn manages(&self, other: AccountType) -> bool {
        match self {
            Self::Customer(customer) => customer.account_type.manages(other),
            Self::NamedToken(token) => {
                token.rights.limits().is_none() && token.rights.account_type.manages(other)
            }
            Self::Candidate(_) => false,
        }
    }

    pub(super) fn towards(&self, candidate: &Candidate, project: &Project) -> CallerRelation {
        match (self, self.in_project(project.id, &project.staff)) {
            (Self::Candidate(own), _) if own.id == candidate.id && own.project == candidate.project => {
                CallerRelation::ThisCandidate
            }
            (Self::Customer(customer), CallerRelation::Staff(account_type, roles))
                if roles.is_empty() && candidate.share_of(customer.id).is_some() =>
            {
                CallerRelation::Sharee(account_type)
            }
            (_, relation) => relation,
        }
    }

    /// The company of the caller.
    pub fn company(&self) -> &CompanyId {
        match self {
            Self::Customer(customer) => &customer.company,
            Self::Candidate(candidate) => &candidate.company,
            Self::NamedToken(token) => &token.company,
        }
    }

    /// A name with which the account can log in; empty if it has none.
    pub(super) fn login_name(&self) -> &str {
        match self {
            Self::Customer(own) => own.username.as_str(),
            Self::Candidate(own) => {
                let CandidateProfile { username, email, .. } = &own.profile;
                username
                    .as_ref()
                    .map(Username::as_str)
                    .or(email.as_ref().map(Email::as_str))
                    .unwrap_or_default()
            }
            Self::NamedToken(_) => "",
        }
    }

    /// The account, with its session epoch and password hash; `None` for a named token.
    pub(super) fn user(&self) -> Option<(Account, StoredUser<'_>)> {
        let (account, epoch, password_hash) = match self {
            Self::Customer(own) => {
                // Without an epoch, no session is valid: deactivation revokes them all with one write.
                let epoch = own.is_active.then_some(own.session_epoch);
                (own.account(), epoch, own.password_hash.as_ref())
            }
            Self::Candidate(own) => {
                let epoch = own.may_log_in().then_some(own.session_epoch);
                (own.account(), epoch, own.password_hash.as_ref())
            }
            Self::NamedToken(_) => return None,
        };
        Some((account, StoredUser { epoch, password_hash }))
    }
}

pub(super) struct StoredUser<'a> {
    /// The epoch of valid sessions; `None` if no session is valid.
    pub(super) epoch: Option<u32>,
    /// `None` until the account has a password.
    pub(super) password_hash: Option<&'a PasswordHash>,
}

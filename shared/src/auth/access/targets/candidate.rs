//! Targets for a candidate, their consents and their shares.

use chrono::{DateTime, Utc};

use crate::auth::access::request::PathIds;
use crate::auth::access::targets::file::FileOwner;
use crate::auth::access::{AdmittedRequest, AuthenticatedRequest, RequestTarget, UnauthenticatedRequest};
use crate::domain::account::Account;
use crate::domain::candidate::Candidate;
use crate::domain::company::Company;
use crate::domain::id::{CustomerId, InvalidId, ShareId};
use crate::domain::mail::rate::{ChangeRate, MAX_OWN_CHANGES};
use crate::domain::parse_enum;
use crate::domain::policy::{Action, CallerRelation};
use crate::domain::privacy::legal::LegalKind;
use crate::domain::project::Project;
use crate::error::{Error, Result};
use crate::http::exchange::UNCHANGING;
use crate::store::{ItemKey, VersionedItem};

/// A candidate with their project and company.
pub struct CandidateTarget {
    pub company: VersionedItem<Company>,
    pub project: VersionedItem<Project>,
    pub candidate: VersionedItem<Candidate>,
    /// The caller's relation to the candidate.
    pub relation: CallerRelation,
}

impl CandidateTarget {
    /// Returns a copy of the candidate to change. If the caller is the candidate, counts the change and fails with
    /// [`Error::Throttled`] after [`MAX_OWN_CHANGES`] in an hour.
    // Handlers call this first, so that a request above the limit neither hashes nor stores anything.
    pub fn to_change(&self, now: DateTime<Utc>) -> Result<Candidate> {
        let mut candidate = Candidate::clone(&self.candidate);
        if self.relation == CallerRelation::ThisCandidate {
            let counted = ChangeRate::counted(candidate.own_changes, MAX_OWN_CHANGES, now);
            candidate.own_changes = Some(counted.map_err(Error::Throttled)?);
        }
        Ok(candidate)
    }
}

impl RequestTarget for Candidate {
    type Loaded = CandidateTarget;

    fn keys(request: &UnauthenticatedRequest<'_>) -> Vec<Result<ItemKey, InvalidId>> {
        vec![request.path.company(), request.path.project(), request.path.candidate()]
    }

    async fn load(mut request: AuthenticatedRequest) -> Result<(AdmittedRequest, CandidateTarget)> {
        let company = request.take(request.path.company())?;
        let project = request.take(request.path.project())?;
        let candidate = request.take_candidate()?;
        let relation = request.caller().towards(&candidate, &project);
        let request = request.authorise_or_hide(Action::ReadCandidate, &relation)?.about(&candidate);
        Ok((request, CandidateTarget { company, project, candidate, relation }))
    }
}

impl FileOwner for Candidate {
    fn file_owner_in(path: &PathIds) -> Result<Account, InvalidId> {
        Ok(Account::Candidate { project: path.id("projectId")?, candidate: path.id("candidateId")? })
    }
}

/// A candidate's consent to a kind of legal text, which need not have been given.
pub struct ConsentTarget {
    /// The candidate with project and company.
    pub of: CandidateTarget,
    pub kind: LegalKind,
}

impl RequestTarget for ConsentTarget {
    type Loaded = Self;

    fn keys(request: &UnauthenticatedRequest<'_>) -> Vec<Result<ItemKey, InvalidId>> {
        Candidate::keys(request)
    }

    async fn load(request: AuthenticatedRequest) -> Result<(AdmittedRequest, Self)> {
        let kind = request.path.text("kind").and_then(|kind| parse_enum(kind).ok());
        let (request, of) = Candidate::load(request).await?;
        Ok((request, Self { of, kind: kind.ok_or(Error::NotFound)? }))
    }
}

/// A share of a candidate.
pub struct ShareTarget {
    pub project: VersionedItem<Project>,
    pub candidate: VersionedItem<Candidate>,
    pub share: ShareId,
    /// The customer who may read the candidate because of the share.
    pub customer: CustomerId,
}

impl RequestTarget for ShareTarget {
    type Loaded = Self;

    fn keys(request: &UnauthenticatedRequest<'_>) -> Vec<Result<ItemKey, InvalidId>> {
        Candidate::keys(request)
    }

    async fn load(request: AuthenticatedRequest) -> Result<(AdmittedRequest, Self)> {
        let share = request.path.id::<ShareId>("shareId");
        let (request, CandidateTarget { project, candidate, .. }) = Candidate::load(request).await?;
        let share = share.map_err(|_| Error::NotFound)?;
        let customer = *candidate.shares.get(&share).ok_or(Error::NotFound)?;
        Ok((request.about_revision(UNCHANGING), Self { project, candidate, share, customer }))
    }
}

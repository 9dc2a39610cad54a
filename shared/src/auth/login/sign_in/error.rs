//! The reasons why a sign-in ends without a session.

use crate::domain::issuer::{IssuerFault, ProviderFault};
use crate::domain::outgoing::OutgoingError;
use crate::domain::staff::sign_in::{SignInFailure, SignInProblem};
use crate::error::Error;

/// The reason why a sign-in ends without a session.
// Fault (of an issuer or provider) → problem (owners read it) → failure (the person sees it).
pub(super) enum SignInError {
    /// The reason is for the log alone: it would tell strangers about the company and its staff.
    Failure(SignInFailure, &'static str),
    /// A fault of the provider or of the settings, which owners can mend.
    Problem(SignInProblem),
    Error(Error),
}

impl SignInError {
    pub(super) fn expired(reason: &'static str) -> Self {
        Self::Failure(SignInFailure::Expired, reason)
    }

    pub(super) fn refused(reason: &'static str) -> Self {
        Self::Failure(SignInFailure::Refused, reason)
    }

    pub(super) fn unreachable(reason: &'static str) -> Self {
        Self::Failure(SignInFailure::Unreachable, reason)
    }

    /// Tells a token endpoint that no request reaches from one that a stranger's code may have made fail.
    pub(super) fn from_token_endpoint(error: OutgoingError) -> Self {
        match error {
            OutgoingError::UnknownHost | OutgoingError::ForbiddenAddress | OutgoingError::Tls => {
                Self::Problem(SignInProblem::TokenEndpointUnreachable)
            }
            OutgoingError::Connection | OutgoingError::Timeout | OutgoingError::InvalidAnswer => {
                Self::unreachable("the token endpoint does not answer as one")
            }
        }
    }
}

impl From<IssuerFault> for SignInError {
    fn from(fault: IssuerFault) -> Self {
        Self::Problem(fault.into())
    }
}

impl From<ProviderFault> for SignInError {
    fn from(fault: ProviderFault) -> Self {
        Self::Problem(fault.into())
    }
}

impl From<Error> for SignInError {
    fn from(error: Error) -> Self {
        match error {
            Error::Throttled(_) => {
                Self::Failure(SignInFailure::Limited, "too many failures from this source")
            }
            // A retry would fail: the code is spent.
            Error::Changed => Self::expired("others changed the account or the settings"),
            error => Self::Error(error),
        }
    }
}

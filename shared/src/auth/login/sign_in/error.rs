//! Why a sign-in ends without a session.

use crate::domain::issuer::{IssuerFault, ProviderFault};
use crate::domain::outgoing::OutgoingError;
use crate::domain::staff::sign_in::{SignInFailure, SignInProblem};
use crate::error::Error;

/// The reason why a sign-in ends without a session.
// A fault (of an issuer or provider) becomes a problem, which owners read, and then a failure, which the person sees.
pub(super) enum SignInError {
    /// The reason is only for the log: it would reveal facts about the company and its staff to strangers.
    Failure(SignInFailure, &'static str),
    /// A fault of the provider or of the settings, which owners can fix.
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

    /// Distinguishes an unreachable token endpoint, which owners must fix, from one that may have failed because of a
    /// stranger's code.
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
            // No retry: the code can be redeemed only once.
            Error::Changed => Self::expired("others changed the account or the settings"),
            error => Self::Error(error),
        }
    }
}

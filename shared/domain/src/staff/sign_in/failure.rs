//! Failures of sign-ins, as shown to the person who signs in.

use crate::Refusal;

/// Why a sign-in by a company's provider began no session. There are few reasons, so that strangers learn nothing about the
/// company and its staff.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SignInFailure {
    /// The company has no provider, or does not exist.
    Unavailable,
    /// The provider does not respond, or not as the standard demands.
    Unreachable,
    /// The sign-in began more than ten minutes ago or in another browser, or it has already ended.
    Expired,
    /// The provider has refused, or has named a person whom the company does not admit.
    Refused,
    /// The browser is logged in as a candidate, or to another company.
    Occupied,
    /// Too many sign-ins to the company have failed within 15 minutes.
    Limited,
}

impl SignInFailure {
    pub const ALL: [Self; 6] =
        [Self::Unavailable, Self::Unreachable, Self::Expired, Self::Refused, Self::Occupied, Self::Limited];

    /// The code, which the page for people gets in its URL.
    pub fn as_str(self) -> &'static str {
        self.refusal().code
    }

    /// The refusal for clients that accept only JSON.
    pub fn refusal(self) -> Refusal {
        match self {
            Self::Unavailable => Refusal {
                code: "sign_in_unavailable",
                detail: "This company has no provider by which staff sign in. Log in with your password.",
            },
            Self::Unreachable => Refusal {
                code: "sign_in_unreachable",
                detail: "The provider of your company's accounts does not answer as it should. Try again in a few minutes.",
            },
            Self::Expired => Refusal {
                code: "sign_in_expired",
                detail: "This sign-in has expired, has ended, or began in another browser. Begin again.",
            },
            Self::Refused => Refusal {
                code: "sign_in_refused",
                detail: "Your company's account does not let you in here. Try again, or ask whoever manages the staff of your company.",
            },
            Self::Occupied => Refusal {
                code: "sign_in_occupied",
                detail: "Another account is logged in in this browser. Log out, and begin again.",
            },
            Self::Limited => Refusal {
                code: "sign_in_limited",
                detail: "Too many sign-ins have failed. Try again in 15 minutes.",
            },
        }
    }
}

//! Addresses that get no more mail, because SES reported a bounce or a complaint.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Refusal;
use crate::text::Email;

/// The person's address is suppressed.
pub const UNDELIVERABLE: Refusal = Refusal {
    code: "undeliverable",
    detail: "Mails to this address bounced or were reported as spam. Set another email address first.",
};

/// Why an address is suppressed. A later variant overrides an earlier one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SuppressionReason {
    /// Permanent bounce.
    Bounced,
    /// Reported as spam.
    Complained,
}

/// Whether an address gets mails.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(inline, extend("x-closed-set" = true))]
pub enum EmailStatus {
    /// No bounce or complaint is known.
    Deliverable,
    /// Permanent bounce.
    Bounced,
    /// Reported as spam.
    Complained,
    /// There is no address.
    #[serde(rename = "")]
    NoAddress,
}

/// Stops mails to one address. An address that the person sets later is not affected.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Suppression {
    address: Email,
    reason: SuppressionReason,
}

impl Suppression {
    /// The suppression of a person with this `address`, after SES reported `reason` for mails to `reported`. `None` if the report
    /// changes nothing.
    pub fn after_report(
        known: Option<&Self>,
        address: Option<&Email>,
        reported: &str,
        reason: SuppressionReason,
    ) -> Option<Self> {
        let address = address.filter(|address| address.as_str().eq_ignore_ascii_case(reported))?;
        let is_known = Self::reason(known, Some(address)).is_some_and(|known| known >= reason);
        (!is_known).then(|| Self { address: address.clone(), reason })
    }

    /// The suppressed address, which may be a former one of the person.
    pub fn address(&self) -> &Email {
        &self.address
    }

    /// Why a person with this `address` gets no mails; `None` if the address is not suppressed.
    pub fn reason(known: Option<&Self>, address: Option<&Email>) -> Option<SuppressionReason> {
        // A new address is not suppressed, however it was set.
        let known = known.filter(|known| Some(&known.address) == address)?;
        Some(known.reason)
    }

    /// The `email_status` that clients see.
    pub fn status(known: Option<&Self>, address: Option<&Email>) -> EmailStatus {
        match Self::reason(known, address) {
            Some(SuppressionReason::Bounced) => EmailStatus::Bounced,
            Some(SuppressionReason::Complained) => EmailStatus::Complained,
            None if address.is_some() => EmailStatus::Deliverable,
            None => EmailStatus::NoAddress,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn email(text: &str) -> Email {
        Email::parse(text).unwrap()
    }

    #[test]
    fn a_suppression_is_for_one_address() {
        let (ada, other) = (email("Ada@mail.example"), email("ada@other.example"));
        let bounced =
            Suppression::after_report(None, Some(&ada), "ada@MAIL.example", SuppressionReason::Bounced);
        let status = |known: &Option<Suppression>, address| Suppression::status(known.as_ref(), address);
        assert_eq!(status(&bounced, Some(&ada)), EmailStatus::Bounced);
        assert_eq!(status(&bounced, Some(&other)), EmailStatus::Deliverable);
        assert_eq!(status(&bounced, None), EmailStatus::NoAddress);
        assert_eq!(status(&None, Some(&ada)), EmailStatus::Deliverable);
        for (address, reported) in [(Some(&other), "ada@mail.example"), (None, "ada@mail.example")] {
            assert_eq!(Suppression::after_report(None, address, reported, SuppressionReason::Bounced), None);
        }
        // A later report suppresses the new address.
        let again = Suppression::after_report(
            bounced.as_ref(),
            Some(&other),
            "ada@other.example",
            SuppressionReason::Bounced,
        );
        assert_eq!(status(&again, Some(&other)), EmailStatus::Bounced);
    }

    #[test]
    fn a_complaint_outweighs_a_bounce_in_either_order() {
        let ada = email("ada@mail.example");
        let after = |known: &Option<Suppression>, reason| {
            Suppression::after_report(known.as_ref(), Some(&ada), "ada@mail.example", reason)
        };
        let bounced = after(&None, SuppressionReason::Bounced);
        assert_eq!(after(&bounced, SuppressionReason::Bounced), None);
        let complained = after(&bounced, SuppressionReason::Complained);
        assert_eq!(Suppression::status(complained.as_ref(), Some(&ada)), EmailStatus::Complained);
        assert_eq!(after(&complained, SuppressionReason::Bounced), None);
    }
}

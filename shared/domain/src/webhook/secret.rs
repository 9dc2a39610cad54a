//! The secrets that sign deliveries.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::random::RandomSource;
use crate::secret::Sealed;

/// The prefix of secrets in Standard Webhooks.
const PREFIX: &str = "whsec_";

/// The key that signs deliveries to an endpoint. The endpoint's owner knows it too.
///
/// Signing needs the key itself, so it is stored sealed instead of hashed, and only in the endpoint's item. `Debug` hides it.
#[derive(Clone, PartialEq, Eq)]
pub struct SigningSecret([u8; 32]);

impl SigningSecret {
    /// A new secret.
    pub fn generate(entropy: &dyn RandomSource) -> Self {
        let mut bytes = [0; 32];
        entropy.fill(&mut bytes);
        Self(bytes)
    }

    /// `whsec_` and the key in base64, as libraries for Standard Webhooks expect it.
    pub fn reveal(&self) -> String {
        format!("{PREFIX}{}", STANDARD.encode(self.0))
    }

    pub(super) fn bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl fmt::Debug for SigningSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SigningSecret(…)")
    }
}

impl TryFrom<String> for SigningSecret {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        let key = text.strip_prefix(PREFIX).and_then(|key| STANDARD.decode(key).ok());
        key.and_then(|key| key.try_into().ok()).map(Self).ok_or("no signing secret")
    }
}

/// A replaced secret, which still signs along with the new one for some time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FormerSecret {
    pub secret: Sealed,
    /// When the secret stops signing.
    pub until: DateTime<Utc>,
}

impl FormerSecret {
    /// The secret; `None` if it has stopped signing at `now`.
    pub fn at(&self, now: DateTime<Utc>) -> Option<&Sealed> {
        (now < self.until).then_some(&self.secret)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::Sevens;

    #[test]
    fn a_secret_is_read_as_its_owner_sees_it_and_never_printed() {
        let secret = SigningSecret::generate(&Sevens);
        assert_eq!(secret.reveal(), "whsec_BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwc=");
        assert_eq!(SigningSecret::try_from(secret.reveal()), Ok(secret.clone()));
        assert_eq!(format!("{secret:?}"), "SigningSecret(…)");
    }

    #[test]
    fn texts_that_are_no_secrets_are_refused() {
        for text in ["", "whsec_", "whsec_BwcH", "BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwc=", "whsec_?"] {
            assert!(SigningSecret::try_from(text.to_owned()).is_err(), "{text}");
        }
    }

    #[test]
    fn a_former_secret_is_used_up_to_its_end() {
        let until = DateTime::UNIX_EPOCH;
        let former = FormerSecret { secret: Sealed::new("sealed".to_owned()), until };
        assert!(former.at(until - chrono::TimeDelta::seconds(1)).is_some());
        assert!(former.at(until).is_none());
    }
}

//! The cookie with the sealed state between the two requests of a sign-in.

use axum::http::header;
use chrono::{DateTime, TimeDelta, Utc};
use serde::{Deserialize, Serialize};

use crate::auth::login::PublicAccess;
use crate::domain::id::CompanyId;
use crate::domain::secret::{Sealed, SecretHash};
use crate::domain::staff::sign_in::SignInProvider;
use crate::error::{Error, Result};
use crate::seals::SealPlace;

/// How long a sign-in may take.
const LIFETIME: TimeDelta = TimeDelta::minutes(10);
/// The maximum number of unfinished sign-ins in a browser.
// Without a limit, a malicious page could make the browser begin so many that the gateway refuses its requests because
// of their cookies.
const MAX_BEGUN: usize = 4;
/// The prefix of the names of sign-in cookies.
const COOKIE_PREFIX: &str = "sign-in-";

/// The state between the two requests of a sign-in.
#[derive(Serialize, Deserialize)]
pub(super) struct PendingSignIn {
    pub(super) company: CompanyId,
    /// A hash of issuer and client, so that a code of a former provider is not redeemed at the current one.
    pub(super) client_hash: SecretHash,
    pub(super) nonce: String,
    pub(super) verifier: String,
    pub(super) return_to: String,
    pub(super) begun_at: DateTime<Utc>,
}

impl PublicAccess {
    /// Seals the state of a new sign-in. Returns the Set-Cookie values: one with the state and, if the browser has too many
    /// sign-ins, those that delete the others.
    pub(super) async fn seal_pending_sign_in(
        &self,
        state: &str,
        pending: &PendingSignIn,
    ) -> Result<Vec<String>> {
        let pending = serde_json::to_vec(pending).map_err(Error::internal)?;
        let sealed = self.app.seal(&SealPlace::of_sign_in(state), &pending).await?;
        let begun = self.sign_in_cookies();
        let mut cookies: Vec<String> = Vec::new();
        if begun.len() >= MAX_BEGUN {
            cookies.extend(begun.iter().map(|(name, _)| self.set_cookie(name, "", TimeDelta::zero())));
        }
        cookies.push(self.set_cookie(&self.sign_in_cookie_name(state), sealed.as_str(), LIFETIME));
        Ok(cookies)
    }

    /// Opens the sign-in with this `state`; `None` if it did not begin in this browser within [`LIFETIME`].
    pub(super) async fn open_pending_sign_in(&self, state: &str) -> Result<Option<PendingSignIn>> {
        let name = self.sign_in_cookie_name(state);
        let cookies = self.sign_in_cookies();
        let Some((_, sealed)) = cookies.into_iter().find(|(sent, _)| *sent == name) else { return Ok(None) };
        let sealed = Sealed::new(sealed.to_owned());
        let keys = self.app.seal_keys_for([&sealed]).await?;
        // Clients can forge cookies, so a cookie that no key opens is not a server error.
        let Ok(opened) = keys.open(&SealPlace::of_sign_in(state), &sealed, self.now) else { return Ok(None) };
        // Another release may have sealed another format.
        let pending = serde_json::from_slice::<PendingSignIn>(&opened).ok();
        Ok(pending.filter(|pending| self.now - pending.begun_at < LIFETIME))
    }

    /// The Set-Cookie value that deletes the sign-in with this `state`.
    pub fn clear_sign_in_cookie(&self, state: &str) -> String {
        self.set_cookie(&self.sign_in_cookie_name(state), "", TimeDelta::zero())
    }

    /// The names and values of the browser's sign-in cookies.
    fn sign_in_cookies(&self) -> Vec<(&str, &str)> {
        let sent = self.parts.headers.get_all(header::COOKIE).into_iter();
        let sent = sent.filter_map(|value| value.to_str().ok()).flat_map(|value| value.split(';'));
        let cookies = sent.filter_map(|cookie| cookie.trim().split_once('='));
        cookies.filter(|(name, _)| name.trim_start_matches("__Host-").starts_with(COOKIE_PREFIX)).collect()
    }

    /// The name of a sign-in's cookie. It depends on `state`, so that each tab has a cookie of its own.
    fn sign_in_cookie_name(&self, state: &str) -> String {
        let hash = SecretHash::of(state);
        let prefix = if self.app.config().is_cookie_secure() { "__Host-" } else { "" };
        format!("{prefix}{COOKIE_PREFIX}{}", &hash.as_str()[..16])
    }

    fn set_cookie(&self, name: &str, value: &str, lifetime: TimeDelta) -> String {
        let secure = if self.app.config().is_cookie_secure() { "Secure; " } else { "" };
        // Lax, because the provider redirects back from another site.
        format!("{name}={value}; Max-Age={}; HttpOnly; {secure}SameSite=Lax; Path=/", lifetime.num_seconds())
    }
}

/// A hash that identifies a client of an issuer.
pub(super) fn hash_client(provider: &SignInProvider) -> SecretHash {
    SecretHash::of(&format!("{}\n{}", provider.issuer.as_str(), provider.client_id.as_str()))
}

//! Passwords: argon2id, 19 MiB, two passes, one lane, as OWASP recommends.

use std::num::NonZero;
use std::sync::LazyLock;

use argon2::password_hash::phc::PasswordHash as Phc;
use argon2::{Algorithm, Argon2, Params, PasswordHasher, PasswordVerifier, Version};
use passwords::analyzer::is_common_password;
use tokio::sync::Semaphore;

use crate::clock::Entropy;
use crate::domain::schema::inline_schema;
use crate::domain::secret::PasswordHash;
use crate::error::{Error, Result};

/// A password as it came in. Never shown, not even to logs.
pub struct Password(String);

inline_schema!(impl[] Password {
    "type": "string",
    "format": "password",
    "minLength": Self::MIN,
    "maxLength": Self::MAX,
    "description": "A password. Common ones cannot be chosen."
});

impl Password {
    /// The fewest characters of a password.
    pub const MIN: usize = 8;
    /// The most characters of a password.
    pub const MAX: usize = 128;

    /// Takes a password that somebody logs in with: any text of bounded length.
    ///
    /// # Errors
    /// The message for whoever sent it.
    pub fn attempt(text: &str) -> Result<Self, String> {
        if text.is_empty() {
            Err("This field may not be blank.".to_owned())
        } else if text.chars().count() > Self::MAX {
            Err(format!("Ensure this field has no more than {} characters.", Self::MAX))
        } else {
            Ok(Self(text.to_owned()))
        }
    }

    /// Takes a password that somebody chooses.
    ///
    /// # Errors
    /// The message for whoever sent it.
    pub fn choose(text: &str) -> Result<Self, String> {
        if text.chars().count() < Self::MIN {
            return Err(format!("Ensure this field has at least {} characters.", Self::MIN));
        }
        if text.trim().is_empty() {
            return Err("This field may not be blank.".to_owned());
        }
        if is_common_password(text) || is_common_password(text.to_lowercase()) {
            return Err("This password is too common.".to_owned());
        }
        Self::attempt(text)
    }

    /// The hash to store, with a salt from `entropy`. Takes tens of milliseconds, on a thread of its own.
    ///
    /// # Errors
    /// [`Error::Internal`].
    pub async fn hash(self, entropy: &dyn Entropy) -> Result<PasswordHash> {
        let mut salt = [0; 16];
        entropy.fill(&mut salt);
        on_own_thread(move || {
            let hash = ARGON2.hash_password_with_salt(self.0.as_bytes(), &salt).map_err(Error::internal)?;
            Ok(PasswordHash::new(hash.to_string()))
        })
        .await
    }

    /// Finds the first of `hashes` that is of this password; checks against at least one, so that the time it takes
    /// does not tell whether there was any. On a thread of its own.
    ///
    /// # Errors
    /// [`Error::Internal`] when a stored hash is no hash.
    pub async fn find(self, hashes: Vec<Option<PasswordHash>>) -> Result<Option<usize>> {
        on_own_thread(move || {
            let mut found = None;
            let hashes = if hashes.is_empty() { vec![None] } else { hashes };
            for (index, hash) in hashes.iter().enumerate() {
                let phc =
                    Phc::new(hash.as_ref().map_or(NOBODYS, PasswordHash::phc)).map_err(Error::internal)?;
                let fits = ARGON2.verify_password(self.0.as_bytes(), &phc).is_ok();
                if fits && hash.is_some() && found.is_none() {
                    found = Some(index);
                }
            }
            Ok(found)
        })
        .await
    }
}

static ARGON2: LazyLock<Argon2<'_>> = LazyLock::new(|| {
    let params = Params::new(19 * 1024, 2, 1, None).unwrap_or_default();
    Argon2::new(Algorithm::Argon2id, Version::V0x13, params)
});

/// A hash to compare with when there is no account: of the same cost, and never taken for a match.
const NOBODYS: &str =
    "$argon2id$v=19$m=19456,t=2,p=1$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";

/// How many hashes are computed at once: one a processor, since more would only hold memory and none would be ready
/// sooner. A Lambda function has one request at a time, a local run many.
static ROOM: LazyLock<Semaphore> =
    LazyLock::new(|| Semaphore::new(std::thread::available_parallelism().map_or(1, NonZero::get)));

async fn on_own_thread<T: Send + 'static>(work: impl FnOnce() -> Result<T> + Send + 'static) -> Result<T> {
    let _room = ROOM.acquire().await.map_err(Error::internal)?;
    tokio::task::spawn_blocking(work).await.map_err(Error::internal)?
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::SystemEntropy;

    fn attempt(text: &str) -> Password {
        Password::attempt(text).unwrap()
    }

    #[tokio::test]
    async fn only_the_password_itself_fits() {
        let hash = Password::choose("correct horse").unwrap().hash(&SystemEntropy).await.unwrap();
        assert!(hash.phc().starts_with("$argon2id$v=19$m=19456,t=2,p=1$"), "{}", hash.phc());
        let hashes = vec![None, Some(hash)];
        assert_eq!(attempt("correct horse").find(hashes.clone()).await.unwrap(), Some(1));
        assert_eq!(attempt("correct horses").find(hashes.clone()).await.unwrap(), None);
        assert_eq!(attempt("correct horse").find(vec![]).await.unwrap(), None);
        let cost = |phc: &str| phc.rsplitn(3, '$').nth(2).map(str::to_owned);
        assert_eq!(cost(NOBODYS), cost(hashes[1].as_ref().unwrap().phc()));
    }

    #[test]
    fn a_chosen_password_is_neither_short_nor_endless() {
        assert!(Password::choose("1234567").is_err());
        assert!(Password::choose("1234567x y").is_ok());
        for blank in [" ".repeat(8), "\t ".repeat(9), "\u{2003}".repeat(12)] {
            assert!(Password::choose(&blank).is_err(), "{blank:?}");
        }
        for common in ["12345678", "password", "PASSWORD", "qwertyuiop", "iloveyou"] {
            assert!(Password::choose(common).is_err(), "{common}");
        }
        assert!(Password::choose(&"x".repeat(129)).is_err());
        assert!(Password::attempt("").is_err());
    }
}

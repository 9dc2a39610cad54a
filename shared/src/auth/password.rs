//! Passwords: argon2id with 19 MiB, two passes and one lane, as OWASP recommends; in tests with the lowest cost.

use std::borrow::Cow;
use std::num::NonZero;
use std::sync::LazyLock;

use argon2::password_hash::phc::{Output, PasswordHash as Phc, Salt};
use argon2::{Algorithm, Argon2, Params, PasswordHasher, Version};
use passwords::analyzer::is_common_password;
use precis_profiles::OpaqueString;
use precis_profiles::precis_core::profile::Rules;
use schemars::JsonSchema;
use tokio::sync::Semaphore;

use crate::app::App;
use crate::auth::credential::new_token_value;
use crate::domain::secret::PasswordHash;
use crate::error::{Error, Result};

/// A password, as the user typed it. Never shown, not even in logs.
///
/// Hashed in the normal form of RFC 8265, because keyboards and systems compose letters differently and type different spaces.
#[derive(JsonSchema)]
#[schemars(
    inline,
    description = "A password. Common passwords are refused.",
    extend("format" = "password", "minLength" = Self::MIN, "maxLength" = Self::MAX)
)]
pub struct Password(String);

impl Password {
    /// The minimum length in characters.
    pub const MIN: usize = 8;
    /// The maximum length in characters.
    pub const MAX: usize = 128;

    /// Takes the password of a login attempt: any text of at most [`MAX`](Self::MAX) characters. The error is the
    /// message for the client.
    pub fn attempt(text: &str) -> Result<Self, String> {
        if text.is_empty() {
            return Err("This field may not be blank.".to_owned());
        }
        // Check the length before normalising, which joins at most four characters to one, to limit the work.
        if text.chars().nth(4 * Self::MAX).is_some() {
            return Err(Self::too_long());
        }
        let password = Self(text.to_owned());
        // Either form may be short enough: a letter that is one character on one system is two on another.
        let is_short = [text, &password.normal()].iter().any(|form| form.chars().nth(Self::MAX).is_none());
        if is_short { Ok(password) } else { Err(Self::too_long()) }
    }

    fn too_long() -> String {
        format!("Ensure this field has no more than {} characters.", Self::MAX)
    }

    /// Validates a new password. The error is the message for the client.
    pub fn choose(text: &str) -> Result<Self, String> {
        if text.chars().count() < Self::MIN {
            return Err(format!("Ensure this field has at least {} characters.", Self::MIN));
        }
        if text.trim().is_empty() {
            return Err("This field may not be blank.".to_owned());
        }
        let password = Self::attempt(text)?;
        let normal = password.normal();
        // The crate maintains this list of 100,000 common passwords.
        if is_common_password(&*normal) || is_common_password(normal.to_lowercase()) {
            return Err("This password is too common.".to_owned());
        }
        Ok(password)
    }

    /// The normal form by the rules of the profile `OpaqueString` (RFC 8265): ASCII spaces, and letters in NFC.
    fn normal(&self) -> Cow<'_, str> {
        let profile = OpaqueString::new();
        let spaced = profile.additional_mapping_rule(self.0.as_str());
        // Apply only these rules: the whole profile refuses characters newer than its tables, which passwords may contain.
        spaced.and_then(|text| profile.normalization_rule(text)).unwrap_or(Cow::Borrowed(&self.0))
    }

    /// Hashes a new password, with the salt of `shared` if given, else with a random salt. Takes tens of milliseconds on a
    /// thread of its own.
    pub async fn hash(self, shared: Option<&PasswordHash>, app: &App) -> Result<PasswordHash> {
        let mut salt = vec![0; SALT];
        match shared {
            Some(shared) => salt = parse(shared.phc())?.1.to_vec(),
            None => app.entropy().fill(&mut salt),
        }
        let params = params_of(app);
        on_own_thread(move || {
            let hash = argon2(params)
                .hash_password_with_salt(self.normal().as_bytes(), &salt)
                .map_err(Error::internal)?;
            Ok(PasswordHash::new(hash.to_string()))
        })
        .await
    }

    /// The hash of an unknown random password. To log in, the account must reset its password.
    pub(crate) async fn hash_of_unknown(app: &App) -> Result<PasswordHash> {
        Self(new_token_value(app.entropy())).hash(None, app).await
    }

    /// Finds the first of `hashes` that matches the password as typed or, if none does, its normal form. Only hashes with the
    /// first two different salts are compared.
    ///
    /// Always hashes the password twice, and its normal form twice if it differs, on a thread of its own.
    pub async fn find(self, hashes: Vec<PasswordHash>, app: &App) -> Result<Option<usize>> {
        let params = params_of(app);
        on_own_thread(move || {
            // Two hashes even without an account: the time must not reveal how many accounts there are.
            let checks = checks(&hashes, &params)?;
            let typed = find_in(&checks, &self.0)?;
            match self.normal() {
                // This time depends only on what the client has sent, not on accounts.
                normal if normal != self.0 => Ok(typed.or(find_in(&checks, &normal)?)),
                _ => Ok(typed),
            }
        })
        .await
    }
}

/// The smallest index of a stored hash that matches `text`. Hashes `text` once for each of the `checks`.
fn find_in(checks: &[SaltedHashes], text: &str) -> Result<Option<usize>> {
    let mut found: Option<usize> = None;
    for SaltedHashes { params, salt, stored } in checks {
        let mut computed = [0; Params::DEFAULT_OUTPUT_LEN];
        let hashed = argon2(params.clone()).hash_password_into(text.as_bytes(), salt, &mut computed);
        hashed.map_err(Error::internal)?;
        let computed = Output::new(&computed).map_err(Error::internal)?;
        let fits = stored.iter().filter(|(_, stored)| *stored == computed);
        found = fits.map(|(index, _)| *index).chain(found).min();
    }
    Ok(found)
}

/// How often a login hashes a text: once with the salt that candidates of one address share, and once for a staff user
/// with this address or a candidate who had another address when they chose their password.
const CHECKS: usize = 2;
const SALT: usize = 16;

/// Stored passwords with the same parameters and salt, so that one computed hash can be compared with all.
struct SaltedHashes {
    params: Params,
    salt: Salt,
    /// The hashes, each with its index in the list.
    stored: Vec<(usize, Output)>,
}

/// Groups `hashes` by parameters and salt. Returns exactly [`CHECKS`] groups: adds empty ones, whose parameters are
/// those of new hashes.
fn checks(hashes: &[PasswordHash], new: &Params) -> Result<Vec<SaltedHashes>> {
    let mut checks: Vec<SaltedHashes> = Vec::with_capacity(CHECKS);
    for (index, hash) in hashes.iter().enumerate() {
        let (params, salt, output) = parse(hash.phc())?;
        if let Some(same) = checks.iter_mut().find(|check| *check.salt == *salt && check.params == params) {
            same.stored.push((index, output));
        } else if checks.len() < CHECKS {
            // Skip a third salt, so its password does not match until it is reset: a third hash would take time that
            // reveals the number of accounts.
            checks.push(SaltedHashes { params, salt, stored: vec![(index, output)] });
        }
    }
    // The time of a login must not reveal how many accounts the address has.
    while checks.len() < CHECKS {
        let salt = Salt::new(&[0; SALT]).map_err(Error::internal)?;
        checks.push(SaltedHashes { params: new.clone(), salt, stored: Vec::new() });
    }
    Ok(checks)
}

fn parse(phc: &str) -> Result<(Params, Salt, Output)> {
    let phc = Phc::new(phc).map_err(Error::internal)?;
    let params = Params::try_from(&phc).map_err(Error::internal)?;
    let (salt, hash) =
        phc.salt.zip(phc.hash).ok_or_else(|| Error::internal("a stored password has no hash"))?;
    Ok((params, salt, hash))
}

/// The memory in KiB, and the number of passes, of new hashes.
const COST: (u32, u32) = (19 * 1024, 2);
/// The cost of new hashes if [`Config::weak_password_hashes`](crate::config::Config) is set.
const WEAK_COST: (u32, u32) = (Params::MIN_M_COST, Params::MIN_T_COST);

fn params_of(app: &App) -> Params {
    let (memory, passes) = if app.config().weak_password_hashes { WEAK_COST } else { COST };
    // If these are invalid, use the crate's defaults, which equal `COST`.
    Params::new(memory, passes, 1, Some(Params::DEFAULT_OUTPUT_LEN)).unwrap_or_default()
}

fn argon2(params: Params) -> Argon2<'static> {
    Argon2::new(Algorithm::Argon2id, Version::V0x13, params)
}

/// Limits how many hashes are computed at once.
// One per processor: more would use memory without being faster. A Lambda function has one request at a time, a local run has many.
static ROOM: LazyLock<Semaphore> =
    LazyLock::new(|| Semaphore::new(std::thread::available_parallelism().map_or(1, NonZero::get)));

async fn on_own_thread<T: Send + 'static>(work: impl FnOnce() -> Result<T> + Send + 'static) -> Result<T> {
    let _room = ROOM.acquire().await.map_err(Error::internal)?;
    tokio::task::spawn_blocking(work).await.map_err(Error::internal)?
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::clock::{SystemClock, SystemEntropy};
    use crate::config;

    fn app() -> App {
        App::new(config::tests::read(&[]).unwrap(), Arc::new(SystemClock), Arc::new(SystemEntropy))
    }

    fn attempt(text: &str) -> Password {
        Password::attempt(text).unwrap()
    }

    async fn hash(password: &str, shared: Option<&PasswordHash>) -> PasswordHash {
        Password::choose(password).unwrap().hash(shared, &app()).await.unwrap()
    }

    #[tokio::test]
    async fn only_the_password_itself_fits() {
        let other = hash("another horse", None).await;
        let hash = hash("correct horse", None).await;
        assert!(hash.phc().starts_with("$argon2id$v=19$m=19456,t=2,p=1$"), "{}", hash.phc());
        let hashes = vec![other, hash];
        assert_eq!(attempt("correct horse").find(hashes.clone(), &app()).await.unwrap(), Some(1));
        assert_eq!(attempt("correct horses").find(hashes.clone(), &app()).await.unwrap(), None);
        assert_eq!(attempt("correct horse").find(vec![], &app()).await.unwrap(), None);
    }

    #[tokio::test]
    async fn every_login_computes_two_hashes() {
        let first = hash("password number 0", None).await;
        let mut hashes = vec![hash("password of staff", None).await, first.clone()];
        for n in 1..6 {
            hashes.push(hash(&format!("password number {n}"), Some(&first)).await);
        }
        for some in [&[][..], &hashes[..1], &hashes[..2], &hashes[1..], &hashes] {
            let costs: Vec<Params> =
                checks(some, &params_of(&app())).unwrap().into_iter().map(|check| check.params).collect();
            assert_eq!(costs, vec![params_of(&app()); CHECKS]);
        }
        for n in 0..6 {
            let found = attempt(&format!("password number {n}")).find(hashes.clone(), &app()).await.unwrap();
            assert_eq!(found, Some(n + 1));
        }
        // Hashes with a third salt are not compared.
        hashes.push(hash("a third salt", None).await);
        assert_eq!(attempt("a third salt").find(hashes.clone(), &app()).await.unwrap(), None);
        // Of several matching hashes, the first is found.
        hashes.push(hash("password number 3", Some(&first)).await);
        assert_eq!(attempt("password number 3").find(hashes, &app()).await.unwrap(), Some(4));
    }

    #[tokio::test]
    async fn a_password_fits_however_its_letters_and_spaces_are_typed() {
        let composed = "Grüße aus Köln 🫠";
        let decomposed = "Gru\u{308}ße aus Ko\u{308}ln 🫠";
        let spaced = "Grüße\u{a0}aus\u{3000}Köln\u{202f}🫠";
        for chosen in [composed, decomposed, spaced] {
            let hashes = vec![hash("another horse", None).await, hash(chosen, None).await];
            for typed in [composed, decomposed, spaced] {
                assert_eq!(attempt(typed).find(hashes.clone(), &app()).await.unwrap(), Some(1), "{typed}");
            }
            for other in ["grüße aus Köln 🫠", "Gruße aus Köln 🫠", "GrüßeausKöln🫠", " Grüße aus Köln 🫠"]
            {
                assert_eq!(attempt(other).find(hashes.clone(), &app()).await.unwrap(), None, "{other}");
            }
        }
        // A hash from before passwords were normalised.
        let salt = [7; SALT];
        let stored = argon2(params_of(&app())).hash_password_with_salt(decomposed.as_bytes(), &salt).unwrap();
        let hashes = vec![PasswordHash::new(stored.to_string())];
        assert_eq!(attempt(decomposed).find(hashes, &app()).await.unwrap(), Some(0));
    }

    #[test]
    fn each_form_of_a_password_may_be_the_one_that_is_short_enough() {
        let decomposed = "u\u{308}".repeat(128);
        assert!(Password::choose(&decomposed).is_ok() && Password::attempt(&decomposed).is_ok());
        // The NFC of some letters is longer than the letter.
        assert!(Password::attempt(&"\u{958}".repeat(128)).is_ok());
        for long in ["u\u{308}".repeat(129), "ü".repeat(129), "x".repeat(1_000_000)] {
            assert!(Password::attempt(&long).is_err());
        }
        assert!(Password::choose("ABC\u{a0}123456").is_ok());
    }

    #[test]
    fn a_chosen_password_is_neither_short_nor_endless() {
        assert!(Password::choose("1234567").is_err());
        assert!(Password::choose("1234567x y").is_ok());
        for blank in [" ".repeat(8), "\t ".repeat(9), "\u{2003}".repeat(12)] {
            assert!(Password::choose(&blank).is_err(), "{blank:?}");
        }
        // The last password begins with the Kelvin sign.
        for common in ["12345678", "password", "PASSWORD", "qwertyuiop", "iloveyou", "\u{212a}atherine"] {
            assert!(Password::choose(common).is_err(), "{common}");
        }
        assert!(Password::choose(&"x".repeat(129)).is_err());
        assert!(Password::attempt("").is_err());
    }
}

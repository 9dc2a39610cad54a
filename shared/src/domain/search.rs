//! The words by which a candidate is found.

use std::collections::BTreeSet;

use super::candidate::Profile;
use super::text::fold_accents;

/// The most words one candidate is found by; a change of all of them still fits in one transaction.
const MAX_TOKENS: usize = 32;
/// The longest token, in characters; longer words are found by their beginning.
const MAX_TOKEN_CHARS: usize = 64;

/// The tokens of a candidate: its email as a whole, local part, domain, and every word of local part and names.
///
/// Folded by [`fold_accents`], each once.
pub fn tokens(profile: &Profile) -> BTreeSet<String> {
    let email = profile.email.as_ref().map(|email| fold_accents(email.as_str())).unwrap_or_default();
    let (local_part, domain) = email.rsplit_once('@').unwrap_or_default();
    let [first, last] = [&profile.first_name, &profile.last_name].map(|name| fold_accents(name.as_str()));
    let whole = [email.as_str(), local_part, domain];
    let words = [first.as_str(), last.as_str(), local_part].into_iter().flat_map(words);
    let mut tokens = BTreeSet::new();
    for token in whole.into_iter().chain(words).filter(|token| !token.is_empty()) {
        if tokens.len() < MAX_TOKENS {
            tokens.insert(token.chars().take(MAX_TOKEN_CHARS).collect());
        }
    }
    tokens
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|character: char| !character.is_alphanumeric())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::text::{Email, Name};

    fn profile(first: &str, last: &str, email: &str) -> Profile {
        let mut profile = Profile::new(Name::parse(first).unwrap(), Name::parse(last).unwrap());
        profile.email = Email::parse(email).ok();
        profile
    }

    #[test]
    fn every_word_and_every_part_of_the_email_is_a_token() {
        let found = tokens(&profile("Anne-Marie", "von Straße", "A.Strasse@mail.Example.com"));
        let expected = [
            "a",
            "a.strasse",
            "a.strasse@mail.example.com",
            "anne",
            "mail.example.com",
            "marie",
            "strasse",
            "von",
        ];
        assert!(found.iter().eq(&expected), "{found:?}");
    }

    #[test]
    fn tokens_are_bounded() {
        let many =
            (0..75).map(|n| char::from_u32(0x4e00 + n).unwrap().to_string()).collect::<Vec<_>>().join(" ");
        assert_eq!(tokens(&profile(&many, &many, "")).len(), MAX_TOKENS);
        let long = tokens(&profile(&"x".repeat(150), "y", ""));
        assert_eq!(long.iter().map(|token| token.chars().count()).max(), Some(MAX_TOKEN_CHARS));
    }
}

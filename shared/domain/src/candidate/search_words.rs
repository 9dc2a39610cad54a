//! The words that searches find candidates by, and the terms of queries.

use std::borrow::Cow;
use std::collections::BTreeMap;

use unicode_script::{Script, UnicodeScript};

use super::{Candidate, CandidateProfile};
use crate::names::named;
use crate::text::{Email, ShortName, fold_accents};

/// The maximum number of search results.
pub const MAX_RESULTS: usize = 50;
/// The maximum number of words of a candidate, so that one transaction can replace them all.
pub const MAX_WORDS: usize = 32;
/// The number of characters of a word that count; the rest is ignored.
const MAX_WORD_CHARS: usize = 64;
/// The maximum length of a query, in characters.
const MAX_QUERY_CHARS: usize = 200;

named! {
    /// The source of a word. Better matches sort first.
    pub enum WordSource {
        /// The full name as one word, in either order.
        FullName = "FULL",
        /// The first or last name.
        Name = "NAME",
        /// The email address.
        Email = "EMAIL",
    }
}

impl Candidate {
    /// The words by which searches find the candidate.
    pub fn words(&self) -> BTreeMap<String, WordSource> {
        self.searched_fields().words()
    }

    /// The fields that searches look in.
    pub fn searched_fields(&self) -> SearchedFields<'_> {
        let CandidateProfile { first_name, last_name, .. } = &self.profile;
        SearchedFields { first_name, last_name, email: self.shown_email() }
    }
}

/// The fields of a candidate that searches look in. Search entries are made from them, and results are compared with them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SearchedFields<'a> {
    pub first_name: &'a ShortName,
    pub last_name: &'a ShortName,
    /// The address that responses show.
    pub email: Option<&'a Email>,
}

impl SearchedFields<'_> {
    /// The stored attributes that the fields are read from.
    pub const ATTRIBUTES: &'static [&'static str] =
        &["profile.first_name", "profile.last_name", "profile.email", "pending_email"];

    /// The words of a candidate, each with its best source:
    ///
    /// - the full name in either order; in Chinese, Japanese and Korean also as one word;
    /// - the email address and its domain;
    /// - of each word in the names and of the local part of the address: the parts between characters other than letters and
    ///   digits, and the rest of the word from each part on. `O'Neil-Smith` gives `o`, `neil`, `smith`, `oneil-smith` and
    ///   `neil-smith`.
    ///
    /// The words are folded by [`fold_accents`], without apostrophes.
    pub fn words(self) -> BTreeMap<String, WordSource> {
        let fields = self.folded();
        let full = fields.orders().map(|names| (full_name(&names.join(" "), " "), WordSource::FullName));
        let mut words = BTreeMap::from(full);
        for (word, source) in fields.words() {
            if let Some(best) = words.get_mut(&*word) {
                *best = source.min(*best);
            } else if words.len() < MAX_WORDS {
                words.insert(word.into_owned(), source);
            }
        }
        words
    }

    /// Whether each of the `terms` is a prefix of one of the words.
    // Full names with spaces need no check: a term has no space, so if it is a prefix of a full name, it is also a prefix of one
    // of its words. `MAX_WORDS` does not matter here, because the entry that led to the candidate was within it.
    pub fn match_terms(self, terms: &SearchTerms) -> bool {
        terms.are_in(self.folded().words().map(|(word, _)| word))
    }

    fn folded(self) -> FoldedFields {
        let Self { first_name, last_name, email } = self;
        let names = [first_name, last_name].map(|name| fold_accents(name.as_str()));
        let email = email.map(|email| fold_accents(email.as_str())).unwrap_or_default();
        let mut fields = FoldedFields { names, email, unspaced: Vec::new() };
        if fields.names.iter().all(|name| is_unspaced(name)) {
            fields.unspaced.extend(fields.orders().map(|names| full_name(&names.join(" "), "")));
        }
        fields
    }
}

/// The searched fields, folded by [`fold_accents`].
struct FoldedFields {
    names: [String; 2],
    email: String,
    /// The full names without spaces; empty unless their script is written so.
    unspaced: Vec<String>,
}

impl FoldedFields {
    /// The names in either order, because people type both.
    fn orders(&self) -> [[&str; 2]; 2] {
        let [first, last] = self.names.each_ref().map(String::as_str);
        [[first, last], [last, first]]
    }

    /// The words except full names with spaces; some occur more than once.
    fn words(&self) -> impl Iterator<Item = (Cow<'_, str>, WordSource)> + Clone {
        let Self { names, email, unspaced } = self;
        let (local_part, domain) = email.rsplit_once('@').unwrap_or_default();
        let in_names = names.iter().flat_map(|name| split(name));
        let whole = [email.as_str(), domain].into_iter().map(|word| (word, WordSource::Email));
        let names = in_names.clone().flat_map(tails).chain(in_names.flat_map(parts));
        let names = names.map(|word| (word, WordSource::Name));
        let local = tails(local_part).chain(parts(local_part)).map(|word| (word, WordSource::Email));
        let unspaced = unspaced.iter().map(|name| (name.as_str(), WordSource::Name));
        let words = whole.chain(unspaced).chain(names).chain(local);
        words.filter_map(|(word, source)| Some((normal(word)?, source)))
    }
}

/// Splits folded text into words.
fn split(text: &str) -> impl Iterator<Item = &str> + Clone {
    text.split(|character: char| character.is_whitespace() || matches!(character, ',' | ';'))
}

/// Splits a word at all characters except letters and digits.
fn parts(word: &str) -> impl Iterator<Item = &str> + Clone {
    word.split(|character: char| !character.is_alphanumeric())
}

/// For each part of the word, the rest of the word from that part on, so that queries may begin with any part.
fn tails(word: &str) -> impl Iterator<Item = &str> + Clone {
    let mut is_in_part = false;
    let starts = word.char_indices().filter(move |(_, character)| {
        let was_in_part = std::mem::replace(&mut is_in_part, character.is_alphanumeric());
        is_in_part && !was_in_part
    });
    starts.map(|(start, _)| &word[start..])
}

/// Whether names in the scripts of `name` are written without a space between family name and given name.
fn is_unspaced(name: &str) -> bool {
    let mut letters = name.chars().filter(|character| character.is_alphabetic()).peekable();
    letters.peek().is_some()
        && letters.all(|letter| {
            // `Common` contains the mark that lengthens Japanese vowels.
            matches!(
                letter.script(),
                Script::Han
                    | Script::Hiragana
                    | Script::Katakana
                    | Script::Hangul
                    | Script::Bopomofo
                    | Script::Common
            )
        })
}

/// The searchable beginning of several folded names.
fn full_name(names: &str, separator: &str) -> String {
    let words: Vec<Cow<'_, str>> = split(names).filter_map(normal).collect();
    beginning(&words.join(separator)).trim_end().to_owned()
}

/// The searchable form of a folded word: its beginning, without apostrophes and surrounding punctuation; `None` if nothing remains.
fn normal(word: &str) -> Option<Cow<'_, str>> {
    // So that `Mueller,` and `(Anna)` match.
    let word = word.trim_matches(|character: char| !character.is_alphanumeric());
    if word.contains('\'') {
        // Queries often omit the apostrophe of O'Neil. If they have a space instead, they match the parts.
        let word = word.replace('\'', "");
        return Some(Cow::Owned(beginning(&word).to_owned()));
    }
    (!word.is_empty()).then(|| Cow::Borrowed(beginning(word)))
}

/// The first [`MAX_WORD_CHARS`] characters.
fn beginning(text: &str) -> &str {
    let end = text.char_indices().nth(MAX_WORD_CHARS).map(|(end, _)| end);
    end.map_or(text, |end| &text[..end])
}

/// A query: prefixes of words, all of which a candidate must have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchTerms(Vec<String>);

impl SearchTerms {
    /// Splits `text` at spaces and commas; `None` if it is blank.
    pub fn parse(text: &str) -> Result<Option<Self>, String> {
        if text.chars().count() > MAX_QUERY_CHARS {
            return Err(format!("Ensure this field has no more than {MAX_QUERY_CHARS} characters."));
        }
        let terms: Vec<String> = split(&fold_accents(text)).filter_map(normal).map(Cow::into_owned).collect();
        Ok((!terms.is_empty()).then_some(Self(terms)))
    }

    /// The prefix of the entries from `source` to read; `None` if these entries add nothing to those of other sources.
    pub fn start(&self, source: WordSource) -> Option<String> {
        match source {
            WordSource::FullName if self.is_lead_alone() => None,
            WordSource::FullName => Some(full_name(&self.0.join(" "), " ")),
            WordSource::Name | WordSource::Email => Some(self.lead().to_owned()),
        }
    }

    /// The most selective term: the longest, or the first of several longest.
    fn lead(&self) -> &str {
        self.0.iter().rev().max_by_key(|term| term.chars().count()).map_or("", String::as_str)
    }

    /// Whether the query has no other term than the lead.
    pub fn is_lead_alone(&self) -> bool {
        self.0.iter().all(|term| term == self.lead())
    }

    /// Whether each term is a prefix of one of these words.
    pub fn are_in(&self, words: impl Iterator<Item: AsRef<str>> + Clone) -> bool {
        self.0.iter().all(|term| words.clone().any(|word| word.as_ref().starts_with(term)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(first: &str, last: &str, email: &str) -> BTreeMap<String, WordSource> {
        let [first, last] = [first, last].map(|name| ShortName::parse(name).unwrap());
        let email = Email::parse(email).ok();
        SearchedFields { first_name: &first, last_name: &last, email: email.as_ref() }.words()
    }

    #[test]
    fn every_word_and_every_part_of_the_email_is_found() {
        use WordSource::{Email, FullName, Name};
        let found = words("Anne-Marie", "von Straße", "A.Strasse+x@mail.Example.com");
        let expected = [
            ("a", Email),
            ("a.strasse+x", Email),
            ("a.strasse+x@mail.example.com", Email),
            ("anne", Name),
            ("anne-marie", Name),
            ("anne-marie von strasse", FullName),
            ("mail.example.com", Email),
            ("marie", Name),
            ("strasse", Name),
            ("strasse+x", Email),
            ("von", Name),
            ("von strasse anne-marie", FullName),
            ("x", Email),
        ];
        assert!(found.iter().map(|(word, source)| (word.as_str(), *source)).eq(expected), "{found:?}");
    }

    /// Entries are deleted by the words that the current rules give. If this test fails, the release notes must tell operators to
    /// run `reindex-search` for each company: otherwise, entries of deleted candidates remain.
    #[test]
    fn words_are_those_of_the_entries_that_are_stored() {
        for (first, last, email, expected) in [
            ("Ada", "Lovelace", "", "ada|ada lovelace|lovelace|lovelace ada"),
            ("Ada", "Ada", "ada@ada.example", "ada|ada ada|ada.example|ada@ada.example"),
            (
                "Łucja",
                "Ðorđević-Ñandú",
                "",
                "dordevic|dordevic-nandu|dordevic-nandu lucja|lucja|lucja dordevic-nandu|nandu",
            ),
            ("王", "小明", "", "小明|小明 王|小明王|王|王 小明|王小明"),
            (
                "O’Neil",
                "d'Arc",
                "o_n@x.de",
                "arc|d|darc|darc oneil|n|neil|o|o_n|o_n@x.de|oneil|oneil darc|x.de",
            ),
            (
                "Anna-Mary-Jane",
                "O'Neil-Smith",
                "",
                "anna|anna-mary-jane|anna-mary-jane oneil-smith|jane|mary|mary-jane|neil|neil-smith|o|oneil-smith|\
                 oneil-smith anna-mary-jane|smith",
            ),
        ] {
            let found = words(first, last, email).into_keys().collect::<Vec<_>>().join("|");
            assert_eq!(found, expected);
        }
    }

    #[test]
    fn names_without_spaces_are_found_as_they_are_written() {
        for (first, last, written) in [
            ("小明", "王", &["王小明", "小明王"][..]),
            ("太郎", "山田", &["山田太郎"]),
            ("マリー", "ヤマダ", &["ヤマダマリー"]),
            ("민수", "김", &["김민수"]),
        ] {
            let found = words(first, last, "");
            for name in written {
                assert_eq!(found.get(&fold_accents(name)), Some(&WordSource::Name), "{name}: {found:?}");
            }
        }
        for (first, last) in [("Ada", "王"), ("小明", "Wang"), ("1", "2"), ("Ada", "Lovelace")] {
            assert!(!words(first, last, "").contains_key(&fold_accents(&format!("{last}{first}"))));
        }
    }

    #[test]
    fn words_are_bounded() {
        let many =
            (0..75).map(|n| char::from_u32(0x4e00 + n).unwrap().to_string()).collect::<Vec<_>>().join(" ");
        assert_eq!(words(&many, &many, "").len(), MAX_WORDS);
        let long = words(&"x".repeat(150), "y", "");
        assert_eq!(long.keys().map(|word| word.chars().count()).max(), Some(MAX_WORD_CHARS));
    }

    #[test]
    fn terms_are_folded_like_words() {
        let terms = |text: &str| SearchTerms::parse(text).unwrap().map(|SearchTerms(terms)| terms);
        let expect = |terms: &[&str]| Some(terms.iter().map(|term| (*term).to_owned()).collect::<Vec<_>>());
        assert_eq!(terms("  MÜLLER, Łucja "), expect(&["muller", "lucja"]));
        assert_eq!(terms("o’Neil (ANNE‐Marie)"), expect(&["oneil", "anne-marie"]));
        assert_eq!(terms("neil-smith,last+tag; d´Arcy's"), expect(&["neil-smith", "last+tag", "darcys"]));
        assert_eq!(terms("ΟΔΥΣΣΕΥΣ Οδυσσεύς"), expect(&["οδυσσευσ", "οδυσσευσ"]));
        for blank in ["", " \t ", "@ - .", "\u{301}"] {
            assert_eq!(terms(blank), None, "{blank:?}");
        }
        assert!(
            SearchTerms::parse(&"ä".repeat(200)).is_ok() && SearchTerms::parse(&"ä".repeat(201)).is_err()
        );
        let several = SearchTerms::parse("ab cde, fgh").unwrap().unwrap();
        let starts = WordSource::ALL.map(|source| several.start(source));
        assert_eq!(starts, ["ab cde fgh", "cde", "cde"].map(|start| Some(start.to_owned())));
        assert_eq!(SearchTerms::parse("ab").unwrap().unwrap().start(WordSource::FullName), None);
    }

    #[test]
    fn a_candidate_has_the_terms_that_begin_their_words() {
        let email = Email::parse("o.neil@mail.example").unwrap();
        for (first, last) in [("Anne-Marie", "O'Neil, PhD"), ("小明", "王"), ("Ada", "王"), ("Ä", "d'Arc")]
        {
            let [first, last] = [first, last].map(|name| ShortName::parse(name).unwrap());
            for email in [None, Some(&email)] {
                let fields = SearchedFields { first_name: &first, last_name: &last, email };
                let words = fields.words();
                for text in
                    ["ann", "marie", "onei", "phd ann", "王小", "小明王", "a d", "neil@", "mail.e", "ex", "x"]
                {
                    let terms = SearchTerms::parse(text).unwrap().unwrap();
                    assert_eq!(fields.match_terms(&terms), terms.are_in(words.keys()), "{text}: {words:?}");
                }
            }
        }
    }

    #[test]
    fn each_term_must_begin_a_word() {
        let has =
            |text: &str| SearchTerms::parse(text).unwrap().unwrap().are_in(["anna", "x.y@z.de"].into_iter());
        for good in ["a", "anna", "X.Y an", "x.y@"] {
            assert!(has(good), "{good}");
        }
        for bad in ["nna", "annab", "anna b", "z.de"] {
            assert!(!has(bad), "{bad}");
        }
    }
}

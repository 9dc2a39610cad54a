//! Compares searches with a plain look at every candidate by the rules that were decided.
//!
//! `PROPTEST_CASES` sets how many companies are made up.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::{Config, contextualize_config};
use serde_json::{Value, json};
use shared::domain::text::fold_accents;
use tests::app::TestApp;
use tests::caller::{Caller, Staff};
use tests::effort;
use tokio::runtime::Builder;
use url::form_urlencoded::Serializer;

const PROJECTS: usize = 3;
/// The projects in which the caller has a role who does not see all.
const OWN: [usize; 2] = [0, 2];

const NAMES: [&str; 29] = [
    "Ada",
    "ÁDA",
    "Adam",
    "Ann",
    "Anne-Marie",
    "Marie Anne",
    "Zoë",
    "Zoe",
    "Strauß",
    "STRAUSS",
    "O'Neil",
    "O’Neil",
    "Neil",
    "O'Neil-Smith",
    "ONeil",
    "Anna-Mary-Jane",
    "Mary-Jane",
    "Smith, Neil",
    "Yıldız",
    "İnci",
    "Inci",
    "王",
    "王小明",
    "小明",
    "Łukasz",
    "de la Cruz",
    "J. R. R.",
    "Ὀδυσσεύς",
    "A",
];
const LOCAL_PARTS: [&str; 9] =
    ["ada", "ADA+jobs", "o'neil", "a.b", "anne-marie", "zoe_99", "neil", "x", "first.last+tag"];
const DOMAINS: [&str; 3] = ["mail.example", "Ada.example", "strauss-co.example"];

#[derive(Debug, Clone)]
struct SearchedPerson {
    first: String,
    last: String,
    email: Option<String>,
    project: usize,
}

fn name() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => select(&NAMES[..]).prop_map(str::to_owned),
        1 => (select(&NAMES[..]), select(&NAMES[..])).prop_map(|(one, other)| format!("{one} {other}")),
    ]
}

fn email() -> impl Strategy<Value = String> {
    (select(&LOCAL_PARTS[..]), select(&DOMAINS[..])).prop_map(|(local, domain)| format!("{local}@{domain}"))
}

fn person() -> impl Strategy<Value = SearchedPerson> {
    (name(), name(), option::of(email()), 0..PROJECTS)
        .prop_map(|(first, last, email, project)| SearchedPerson { first, last, email, project })
}

/// Search terms: beginnings of names and addresses, parts from a later letter on, and anything at all.
fn term() -> impl Strategy<Value = String> {
    let some = (
        prop_oneof![3 => name(), 1 => email()],
        prop_oneof![3 => Just(0), 1 => 1..9_usize],
        1..12_usize,
        any::<bool>(),
    );
    let beginning = some.prop_map(|(text, start, count, upper)| {
        let text: String = text.chars().skip(start).take(count).collect();
        if upper { text.to_uppercase() } else { text }
    });
    prop_oneof![12 => beginning, 1 => "\\PC{0,6}"]
}

/// Two terms of the same length, of which the first decides the order. Short ones, so that they find several people.
fn even_terms() -> impl Strategy<Value = String> {
    let terms = (name(), name(), 1..3_usize);
    terms.prop_map(|(one, other, count)| {
        [one, other].map(|name| name.chars().take(count).collect::<String>()).join(" ")
    })
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![3 => term(), 2 => vec(term(), 2..4).prop_map(|terms| terms.join(" ")), 1 => even_terms()]
}

/// A word without apostrophes and the punctuation around it.
fn bare(word: &str) -> String {
    word.trim_matches(|c: char| !c.is_alphanumeric()).replace('\'', "")
}

/// The parts of a text between spaces and commas.
fn spaced(text: &str) -> Vec<String> {
    fold_accents(text)
        .split([' ', ',', ';', '\u{3000}'])
        .flat_map(str::split_whitespace)
        .map(str::to_owned)
        .collect()
}

/// The words between spaces and commas, none of them empty.
fn split(text: &str) -> Vec<String> {
    spaced(text).iter().map(|word| bare(word)).filter(|word| !word.is_empty()).collect()
}

/// Each part of a word, and the word from there on.
fn pieces(word: &str) -> Vec<String> {
    let parts = word.split(|c: char| !c.is_alphanumeric()).map(str::to_owned);
    let is_start = |at: usize| {
        let is_letter = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
        is_letter(word[at..].chars().next()) && !is_letter(word[..at].chars().next_back())
    };
    let tails = word.char_indices().map(|(at, _)| at).filter(|at| is_start(*at)).map(|at| bare(&word[at..]));
    parts.chain(tails).collect()
}

impl SearchedPerson {
    /// The words that find the person, each with its kind: 0 in the full name, 1 in a name, 2 in the address.
    fn words(&self) -> BTreeSet<(u8, String)> {
        let (first, last) = (split(&self.first), split(&self.last));
        let orders = [[first.clone(), last.clone()].concat(), [last, first].concat()];
        let mut words: BTreeSet<(u8, String)> = orders.iter().map(|order| (0, order.join(" "))).collect();
        for name in [&self.first, &self.last] {
            words.extend(spaced(name).iter().flat_map(|word| pieces(word)).map(|word| (1, word)));
        }
        let is_chinese = |text: &String| text.chars().all(|c| "王小明 ".contains(c));
        if is_chinese(&self.first) && is_chinese(&self.last) {
            words.extend(orders.iter().map(|order| (1, order.concat())));
        }
        if let Some((email, (local, domain))) =
            self.email.as_ref().and_then(|email| Some((email, email.split_once('@')?)))
        {
            let whole = [email, domain].map(|text| bare(&fold_accents(text)));
            words.extend(whole.into_iter().chain(pieces(&fold_accents(local))).map(|word| (2, word)));
        }
        words.retain(|(_, word)| !word.is_empty());
        let names: BTreeSet<String> =
            words.iter().filter(|(kind, _)| *kind == 1).map(|(_, word)| word.clone()).collect();
        words.retain(|(kind, word)| *kind < 2 || !names.contains(word));
        words
    }

    /// The best word that is found, if all terms find one; of several terms the longest decides, but for the full name.
    fn rank(&self, terms: &[String]) -> Option<(u8, String)> {
        let words = self.words();
        let is_found = |term: &String| words.iter().any(|(kind, word)| *kind > 0 && word.starts_with(term));
        if !terms.iter().all(is_found) {
            return None;
        }
        let longest = terms.iter().map(|term| term.chars().count()).max()?;
        let lead = terms.iter().find(|term| term.chars().count() == longest)?;
        let full = terms.iter().any(|term| term != lead).then(|| terms.join(" "));
        let is_best = |kind: u8, word: &str| match kind {
            0 => full.as_ref().is_some_and(|full| word.starts_with(full)),
            _ => word.starts_with(lead),
        };
        words.into_iter().find(|(kind, word)| is_best(*kind, word))
    }
}

/// The numbers of those who are to be found in some projects, in order.
fn expected(people: &[SearchedPerson], projects: &[usize], text: &str) -> Vec<usize> {
    let terms = split(text);
    let there = people.iter().enumerate().filter(|(_, person)| projects.contains(&person.project));
    let mut found: Vec<_> = there
        .filter_map(|(number, person)| Some((person.rank(&terms)?, Reverse(number))))
        .filter(|_| !terms.is_empty())
        .collect();
    found.sort();
    found.into_iter().map(|(_, Reverse(number))| number).take(50).collect()
}

async fn compare(people: &[SearchedPerson], texts: &[String]) {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let [some, none] = [app.staff("hiring-manager").await, app.staff("hiring-manager").await];
    let mut projects = Vec::new();
    for number in 0..PROJECTS {
        let evaluators = if OWN.contains(&number) { json!([some.uri]) } else { json!([]) };
        projects.push(owner.project(json!({ "evaluators": evaluators })).await);
    }
    let mut uris = Vec::new();
    for person in people {
        let mut fields = json!({ "first_name": person.first, "last_name": person.last });
        if let Some(email) = &person.email {
            fields["email"] = email.as_str().into();
        }
        uris.push(owner.candidate(&projects[person.project], fields).await);
    }
    for text in texts {
        for (caller, sees) in [(&owner, &[0, 1, 2][..]), (&some, &OWN), (&none, &[])] {
            let expected: Vec<String> =
                expected(people, sees, text).into_iter().map(|n| uris[n].clone()).collect();
            assert_eq!(find(caller, text).await, expected, "{text:?} as {}", caller.username);
        }
    }
}

async fn find(caller: &Staff, text: &str) -> Vec<String> {
    let query = Serializer::new(String::new()).append_pair("q", text).finish();
    let found = caller.get(&format!("/companies/acme/search/?{query}")).await.expect(200).json();
    let uri = |one: &Value| one["resource_uri"].as_str().unwrap().to_owned();
    found.as_array().unwrap().iter().map(uri).collect()
}

proptest! {
    #![proptest_config(contextualize_config(Config { cases: effort::count(12), max_shrink_iters: 200, ..Config::default() }))]
    #[test]
    fn a_search_finds_the_same_as_a_scan(
        people in vec(person(), 1..90),
        texts in vec(text(), 20),
    ) {
        Builder::new_current_thread().enable_all().build().unwrap().block_on(compare(&people, &texts));
    }
}

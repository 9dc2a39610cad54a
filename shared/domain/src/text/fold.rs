//! Folding: one form for spellings of a text that count as equal.

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use super::email;

/// Folds a login name for comparison: Unicode NFKC, lower case, and the domain of an address in ASCII.
pub fn fold_case(text: &str) -> String {
    let text = text.trim();
    // Most login names are ASCII, which NFKC does not change.
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    let folded: String = text.nfkc().flat_map(char::to_lowercase).nfkc().collect();
    let address = folded.rsplit_once('@').and_then(|(local, domain)| Some((local, email::to_ascii(domain)?)));
    address.map_or_else(|| folded.clone(), |(local, domain)| format!("{local}@{domain}"))
}

/// Whether `text` can be a login name: its folded form, which may be much longer, must fit into a key of the table.
pub fn is_login(text: &str) -> bool {
    fold_case(text).len() <= 1024
}

/// Folds text for search: lower case, without accents.
///
/// Letters that Unicode does not decompose are replaced by what people type without a special keyboard.
pub fn fold_accents(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase().replace('`', "'");
    }
    // Replace apostrophes before decomposing, which turns an accent without a letter into a space.
    let text = text.chars().map(|character| if is_apostrophe(character) { '\'' } else { character });
    let mut folded = String::new();
    for character in
        text.nfkd().filter(|character| !is_combining_mark(*character)).flat_map(char::to_lowercase)
    {
        match character {
            'ß' => folded.push_str("ss"),
            'æ' => folded.push_str("ae"),
            'œ' => folded.push_str("oe"),
            'þ' => folded.push_str("th"),
            'ø' => folded.push('o'),
            'đ' | 'ð' => folded.push('d'),
            'ł' => folded.push('l'),
            'ħ' => folded.push('h'),
            'ı' => folded.push('i'),
            'ς' => folded.push('σ'),
            '‐' | '–' => folded.push('-'),
            other if is_combining_mark(other) => {}
            other => folded.push(other),
        }
    }
    folded
}

/// Whether people type this character as an apostrophe.
fn is_apostrophe(character: char) -> bool {
    matches!(character, '\'' | '`' | '´' | '‘' | '’' | '‛' | '′' | 'ʹ'..='ʿ' | '＇')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folding_joins_spellings_that_readers_consider_equal() {
        assert_eq!(fold_case(" ÉLODIE@x.FR"), "élodie@x.fr");
        assert_eq!(fold_case("A@MÜLLER.example"), "a@xn--mller-kva.example");
        assert_eq!(fold_case(" A@MAIL.example\n"), "a@mail.example");
        assert_eq!(fold_case("@"), "@");
        for name in ["O'Neil", "O’Neil", "O´Neil", "O`Neil", "o‘neil", "Oʼneil", "O＇Neil"] {
            assert_eq!(fold_accents(name), "o'neil");
        }
        assert_eq!(fold_accents("Élodie Strauß-Øster Łukasz İnci"), "elodie strauss-oster lukasz inci");
    }
}

//! Folding: one form for spellings of a text that count as equal.

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use super::email;

/// Folds a login name for comparison: composed, lower case, an address with its domain in ASCII.
pub fn fold_case(text: &str) -> String {
    let text = text.trim();
    // Composition changes no ASCII, which most login names are.
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    let folded: String = text.nfkc().flat_map(char::to_lowercase).nfkc().collect();
    let address = folded.rsplit_once('@').and_then(|(local, domain)| Some((local, email::to_ascii(domain)?)));
    address.map_or_else(|| folded.clone(), |(local, domain)| format!("{local}@{domain}"))
}

/// Whether `text` can be a login name: its folded form, which may be much longer, must fit in a key.
pub fn is_login(text: &str) -> bool {
    fold_case(text).len() <= 1024
}

/// Folds text for search: lower case, without accents.
///
/// Letters without a Unicode decomposition are replaced by what people type without a special keyboard.
pub fn fold_accents(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase().replace('`', "'");
    }
    // Apostrophes are replaced before the text is decomposed, which makes a space of an accent without a letter.
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

/// A character that people type as an apostrophe.
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

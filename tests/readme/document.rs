//! Shell blocks and programs of a Markdown document, with the output shown below them.

use std::path::Path;

/// Stands for any text without blanks and quotation marks.
const OMITTED: char = '…';

/// Lines that are executed together.
#[derive(Debug)]
pub(crate) struct Block {
    /// File and line.
    pub(crate) place: String,
    pub(crate) language: Language,
    /// The lines.
    pub(crate) script: String,
    /// The output as shown; empty if the commands print nothing.
    pub(crate) shown: String,
}

/// The languages of blocks that are executed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Language {
    Shell,
    Python,
    JavaScript,
}

impl Language {
    fn of(name: &str) -> Option<Self> {
        match name {
            "sh" => Some(Self::Shell),
            "python" => Some(Self::Python),
            "js" => Some(Self::JavaScript),
            _ => None,
        }
    }
}

/// The blocks from `heading` to the next one of its level, each with the `text` block that follows.
///
/// # Panics
/// If there is no such heading, or if a block is neither in one of the [languages](Language) nor `text`, so that no test would check it,
/// nor `console` or `yaml`, which are for another computer.
pub(crate) fn blocks(file: &str, heading: &str) -> Vec<Block> {
    let text = read(file);
    let mut lines = text.lines().zip(1..).skip_while(|(line, _)| *line != heading).skip(1);
    let mut blocks: Vec<Block> = Vec::new();
    let level = heading.split_inclusive(' ').next().unwrap_or_default();
    while let Some((line, number)) = lines.next().filter(|(line, _)| !line.starts_with(level)) {
        let Some(kind) = line.strip_prefix("```") else { continue };
        let place = format!("{file}:{number}");
        let inside = lines.by_ref().map(|(line, _)| line).take_while(|line| *line != "```");
        let inside: String = inside.flat_map(|line| [line, "\n"]).collect();
        match (kind, Language::of(kind), blocks.last_mut()) {
            (_, Some(language), _) => {
                blocks.push(Block { place, language, script: inside, shown: String::new() });
            }
            ("text", None, Some(block)) if block.shown.is_empty() => block.shown = inside,
            // For another computer, such as that of a platform.
            ("console" | "yaml", None, _) => {}
            _ => panic!("{place}: neither commands nor their output"),
        }
    }
    assert!(!blocks.is_empty(), "{file} has no blocks below {heading:?}");
    blocks
}

/// The block that begins with a line.
///
/// # Panics
/// If there is none.
pub(crate) fn fenced(file: &str, first: &str) -> String {
    let text = read(file);
    let lines = text.lines().skip_while(|line| *line != first).take_while(|line| *line != "```");
    let block: Vec<&str> = lines.collect();
    assert!(!block.is_empty(), "{file} has no block that begins with {first:?}");
    block.join("\n")
}

fn read(file: &str) -> String {
    let path = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/..")).join(file);
    std::fs::read_to_string(path).unwrap()
}

/// Whether a text matches the shown one, in which `…` matches any text without blanks and quotation marks.
pub(crate) fn is_shown_as(text: &str, shown: &str) -> bool {
    let Some((before, after)) = shown.split_once(OMITTED) else { return text == shown };
    let Some(rest) = text.strip_prefix(before) else { return false };
    let omitted = rest.find(|letter: char| letter.is_whitespace() || letter == '"').unwrap_or(rest.len());
    (1..=omitted).any(|length| rest.get(length..).is_some_and(|rest| is_shown_as(rest, after)))
}

#[test]
fn only_omitted_text_may_differ() {
    for (text, shown, same) in [
        ("a\nb\n", "a\nb\n", true),
        ("a\nb\n", "a\n", false),
        (r#"{"uri":"/x/01M7/"}"#, r#"{"uri":"/x/…/"}"#, true),
        (r#"{"uri":"/x/01M7/","b":"/"}"#, r#"{"uri":"/x/…/"}"#, false),
        (r#"{"uri":"/x//"}"#, r#"{"uri":"/x/…/"}"#, false),
        (r#"{"uri":"/y/01M7/"}"#, r#"{"uri":"/x/…/"}"#, false),
        (r#""/x/01M7/?cursor=YjAx""#, r#""/x/…/?cursor=…""#, true),
    ] {
        assert_eq!(is_shown_as(text, shown), same, "{text} {shown}");
    }
}

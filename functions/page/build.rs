//! Joins the modules of each page, packs the files with gzip, and writes the list of them. One version for all of them is a
//! segment of their path, so that a page imports its texts by relative paths.

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::{env, fs};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::GzEncoder;
use sha2::{Digest, Sha256};

const INDEX: &str = "index.html";
/// Each page: its constant, the module that imports its others, and its style sheet. The index names the files of the first one,
/// the candidate's; the others are the same document with other files.
const PAGES: [(&str, &str, &str); 4] = [
    ("INDEX", "main.js", "candidate.css"),
    ("GUEST", "guest.js", "guest.css"),
    ("STAFF", "staff.js", "staff.css"),
    ("ACCESSIBILITY", "accessibility.js", "accessibility.css"),
];
/// The styles that several pages have, and their style sheets, whose own styles follow.
const STYLES: [(&str, &[&str]); 2] = [
    ("player.css", &["guest.css", "staff.css"]),
    ("page.css", &["candidate.css", "guest.css", "staff.css", "accessibility.css"]),
];
/// Modules that are loaded by themselves, one for each language of a page, and those with texts that several pages have.
const TEXTS: &str = "texts/";
/// The export of a module that is loaded by itself; modules that others import have named exports.
const EXPORTED_TEXTS: &str = "export default {";
/// The tags around the script in the index.
const SCRIPT: [&str; 2] = ["<script type=\"module\">", "</script>"];
/// The text that stands for the files' folder in the index.
const PLACEHOLDER: &str = "/page/VERSION/";

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=assets");
    let out = PathBuf::from(env::var_os("OUT_DIR").ok_or("cargo sets OUT_DIR")?);
    let mut files = Vec::new();
    collect(Path::new("assets"), "", &mut files)?;
    join_modules(&mut files)?;
    join_styles(&mut files)?;
    files.sort_unstable();
    let version = version_of(&files);

    let mut list = format!("pub(crate) const VERSION: &str = {version:?};\n");
    let mut entries = Vec::new();
    for (number, (path, content)) in files.iter().enumerate() {
        let media_type =
            media_type(path).ok_or_else(|| format!("assets/{path} has an unknown media type"))?;
        let file = |name: &str| {
            format!(
                r#"PackedFile::of_packed({media_type:?}, include_bytes!(concat!(env!("OUT_DIR"), "/{name}.gz")))"#
            )
        };
        if path == INDEX {
            let index = str::from_utf8(content)?;
            if !index.contains(PLACEHOLDER) {
                return Err(format!("assets/{INDEX} names no file below {PLACEHOLDER}").into());
            }
            let index = index.replace(PLACEHOLDER, &format!("/page/{version}/"));
            for (name, entry, style) in PAGES {
                let page = index.replace(PAGES[0].1, entry).replace(PAGES[0].2, style);
                let (page, hash) = prepare_script(&page)?;
                fs::write(out.join(format!("{name}.gz")), pack(page.as_bytes())?)?;
                writeln!(list, "pub(crate) const {name}_SCRIPT_HASH: &str = {hash:?};")?;
                writeln!(list, "pub(crate) static {name}: PackedFile = {};", file(name))?;
            }
        } else {
            fs::write(out.join(format!("{number}.gz")), pack(content)?)?;
            entries.push(format!("({path:?}, {})", file(&number.to_string())));
        }
    }
    let count = entries.len();
    let entries = entries.join(",\n    ");
    writeln!(list, "pub(crate) static FILES: [(&str, PackedFile); {count}] = [\n    {entries},\n];")?;
    fs::write(out.join("files.rs"), list)?;
    Ok(())
}

/// Adds the files below `folder`, each with its path from `assets` and the content that clients load: a change of either the
/// files or this program leads to another version.
fn collect(folder: &Path, prefix: &str, files: &mut Vec<(String, Vec<u8>)>) -> Result<(), Box<dyn Error>> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name().into_string().map_err(|name| format!("{name:?} is not UTF-8"))?;
        let path = format!("{prefix}{name}");
        if entry.file_type()?.is_dir() {
            collect(&entry.path(), &format!("{path}/"), files)?;
        } else {
            let content = fs::read(entry.path())?;
            files.push(if path.ends_with(".js") {
                let module = without_comments(str::from_utf8(&content)?);
                (path, module.into_bytes())
            } else {
                (path, content)
            });
        }
    }
    Ok(())
}

/// Replaces the modules by one script for each page, which a first visit loads with a single request, and one for each language of
/// a page.
fn join_modules(files: &mut Vec<(String, Vec<u8>)>) -> Result<(), Box<dyn Error>> {
    let mut modules = BTreeMap::new();
    for (path, content) in files.extract_if(.., |(path, _)| path.ends_with(".js")) {
        modules.insert(path, String::from_utf8(content)?);
    }
    let texts =
        modules.iter().filter(|(path, text)| path.starts_with(TEXTS) && text.contains(EXPORTED_TEXTS));
    for entry in PAGES.iter().map(|(_, entry, _)| *entry).chain(texts.map(|(path, _)| path.as_str())) {
        let mut joined = JoinedModules { modules: &modules, names: BTreeMap::new(), text: String::new() };
        let script = joined.with_imports(entry)?;
        files.push((entry.to_owned(), (joined.text + &script).into_bytes()));
    }
    Ok(())
}

/// Puts the styles of several pages before those of each one.
fn join_styles(files: &mut Vec<(String, Vec<u8>)>) -> Result<(), Box<dyn Error>> {
    let place = |files: &[(String, Vec<u8>)], name: &str| {
        files.iter().position(|(path, _)| path == name).ok_or_else(|| format!("there is no assets/{name}"))
    };
    for (name, pages) in STYLES {
        let (_, shared) = files.remove(place(files, name)?);
        for style in pages {
            let own = place(files, style)?;
            files[own].1.splice(..0, shared.iter().copied());
        }
    }
    Ok(())
}

/// Modules in one text, each after those that it imports, as a function that returns what the module exports.
///
/// It knows what the page's modules use: imports and exports by name, each on one line, and no circles.
struct JoinedModules<'a> {
    modules: &'a BTreeMap<String, String>,
    /// The constant that holds what a module exports, by the path of the module.
    names: BTreeMap<String, String>,
    text: String,
}

impl JoinedModules<'_> {
    /// Adds the modules that the one at `path` imports. Returns its text, with constants in place of the
    /// imports.
    fn with_imports(&mut self, path: &str) -> Result<String, Box<dyn Error>> {
        let module = self.modules.get(path).ok_or_else(|| format!("there is no assets/{path}"))?;
        let mut text = String::new();
        for line in module.lines() {
            if let Some(import) = line.strip_prefix("import {") {
                let (names, from) = import
                    .strip_suffix("\";")
                    .and_then(|import| import.split_once("} from \""))
                    .ok_or_else(|| format!("assets/{path} has an import of another form: {line}"))?;
                let from = self.add(&resolve(path, from)?)?;
                writeln!(text, "const {{{names}}} = {from};")?;
            } else {
                writeln!(text, "{line}")?;
            }
        }
        Ok(text)
    }

    /// Adds a module, once. Returns the constant that holds what it exports.
    fn add(&mut self, path: &str) -> Result<String, Box<dyn Error>> {
        if let Some(name) = self.names.get(path) {
            return if name.is_empty() {
                Err(format!("assets/{path} imports itself").into())
            } else {
                Ok(name.clone())
            };
        }
        let name = format!("module{}", self.names.len());
        // Without a name while its imports are added, so that a circle is noticed.
        self.names.insert(path.to_owned(), String::new());
        let module = self.with_imports(path)?;
        let mut exports = Vec::new();
        writeln!(self.text, "const {name} = (() => {{")?;
        for line in module.lines() {
            let declaration = line.strip_prefix("export ");
            if let Some(declaration) = declaration {
                let kinds = ["async function ", "function ", "class ", "const "];
                let declared = kinds.iter().find_map(|kind| declaration.strip_prefix(kind));
                let exported = declared.and_then(|declared| {
                    let end =
                        declared.find(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_')?;
                    Some(&declared[..end]).filter(|name| !name.is_empty())
                });
                exports.push(
                    exported.ok_or_else(|| format!("assets/{path} has an export of another form: {line}"))?,
                );
            }
            writeln!(self.text, "{}", declaration.unwrap_or(line))?;
        }
        writeln!(self.text, "return {{ {} }};\n}})();", exports.join(", "))?;
        self.names.insert(path.to_owned(), name.clone());
        Ok(name)
    }
}

/// The path of a module that another one imports as `./x.js` or `../x.js`.
fn resolve(importer: &str, from: &str) -> Result<String, Box<dyn Error>> {
    let mut segments: Vec<_> = importer.split('/').collect();
    segments.pop();
    for segment in from.split('/') {
        match segment {
            "." => {}
            ".." => {
                segments.pop().ok_or_else(|| format!("assets/{importer} imports {from}"))?;
            }
            _ => segments.push(segment),
        }
    }
    Ok(segments.join("/"))
}

/// Removes the comments of the script in the index. Returns the page, and the script's hash for the policy.
fn prepare_script(index: &str) -> Result<(String, String), Box<dyn Error>> {
    let parts =
        index.split_once(SCRIPT[0]).and_then(|(head, rest)| Some((head, rest.split_once(SCRIPT[1])?)));
    let (head, (script, tail)) = parts.ok_or_else(|| format!("assets/{INDEX} has no script"))?;
    let script = format!("\n{}", without_comments(script));
    let hash = STANDARD.encode(Sha256::digest(&script));
    Ok(([head, SCRIPT[0], &script, SCRIPT[1], tail].concat(), hash))
}

fn version_of(files: &[(String, Vec<u8>)]) -> String {
    let mut hash = Sha256::new();
    for (path, content) in files {
        // With lengths, so that no bytes can move from one file to the next unnoticed.
        for part in [path.as_bytes(), content] {
            hash.update((part.len() as u64).to_be_bytes());
            hash.update(part);
        }
    }
    hash.finalize()[..8].iter().map(|byte| format!("{byte:02x}")).collect()
}

fn media_type(path: &str) -> Option<&'static str> {
    Some(match Path::new(path).extension()?.to_str()? {
        "html" => "text/html; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "js" => "text/javascript; charset=utf-8",
        "svg" => "image/svg+xml",
        _ => return None,
    })
}

/// A module without comments and indentation: a quarter of what a phone would load.
///
/// It goes by lines, so no text of a module may span several, nor hold what looks like a comment.
fn without_comments(module: &str) -> String {
    let mut is_in_comment = false;
    let mut code = String::new();
    for line in module.lines() {
        let line = without_types(line.trim_start());
        is_in_comment |= line.starts_with("/**");
        if !is_in_comment && !line.is_empty() && !line.starts_with("//") {
            code.extend([line.as_str(), "\n"]);
        }
        is_in_comment &= !line.contains("*/");
    }
    code
}

/// A line without the comments that begin and end in it, such as types.
fn without_types(line: &str) -> String {
    let Some((before, (_, after))) =
        line.split_once("/** ").and_then(|(before, rest)| Some((before, rest.split_once("*/")?)))
    else {
        return line.to_owned();
    };
    format!("{before}{}", without_types(after.trim_start()))
}

fn pack(content: &[u8]) -> io::Result<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(content)?;
    encoder.finish()
}

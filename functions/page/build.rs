//! Bundles each page's modules, compresses all files with gzip, and generates their list. A common version is a segment
//! of their paths, so that a page imports its texts by relative paths.

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
/// Each page: its constant, its main module and its style sheet. The HTML names the files of the first page, the
/// candidate's; the other pages are the same HTML with other files.
const PAGES: [(&str, &str, &str); 4] = [
    ("INDEX", "main.js", "candidate.css"),
    ("GUEST", "guest.js", "guest.css"),
    ("STAFF", "staff.js", "staff.css"),
    ("ACCESSIBILITY", "accessibility.js", "accessibility.css"),
];
/// Style sheets that several pages share, and the pages' own style sheets, which follow them.
const STYLES: [(&str, &[&str]); 2] = [
    ("player.css", &["guest.css", "staff.css"]),
    ("page.css", &["candidate.css", "guest.css", "staff.css", "accessibility.css"]),
];
/// The folder of text modules: one per page and language, which the page loads on its own, and those that pages share.
const TEXTS: &str = "texts/";
/// The line that identifies a module that a page loads on its own; modules that others import have named exports.
const EXPORTED_TEXTS: &str = "export default {";
/// The tags around the inline script in the HTML.
const SCRIPT: [&str; 2] = ["<script type=\"module\">", "</script>"];
/// The placeholder for the files' folder in the HTML.
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

/// Adds the files below `folder`, each with its path below `assets` and the content that clients load. So a change of
/// the files or of this program changes the version.
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

/// Bundles the modules into one script per page, so that a first visit loads it with a single request, and one script
/// per page and language.
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

/// Inserts shared styles before each page's own styles.
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

/// Bundles modules into one text. Each module becomes a function that returns its exports, and follows the modules that
/// it imports.
///
/// Supports only what the page's modules use: imports and exports by name, each on one line, and no cycles.
struct JoinedModules<'a> {
    modules: &'a BTreeMap<String, String>,
    /// The constants that hold the modules' exports, by module path.
    names: BTreeMap<String, String>,
    text: String,
}

impl JoinedModules<'_> {
    /// Adds the imports of the module at `path`. Returns the module's text, with constants instead of imports.
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

    /// Adds a module unless it was added before. Returns the constant that holds its exports.
    fn add(&mut self, path: &str) -> Result<String, Box<dyn Error>> {
        if let Some(name) = self.names.get(path) {
            return if name.is_empty() {
                Err(format!("assets/{path} imports itself").into())
            } else {
                Ok(name.clone())
            };
        }
        let name = format!("module{}", self.names.len());
        // The name is empty while the module's imports are added, which reveals cycles.
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

/// Resolves the import `./x.js` or `../x.js` to a path.
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

/// Removes the comments of the inline script. Returns the HTML, and the script's hash for the content security policy.
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
        // Hash the lengths too, so that moving bytes from one file to the next changes the hash.
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

/// Removes comments and indentation, which saves phones a quarter of the download.
///
/// Works line by line, so no string of a module may span lines or contain what looks like a comment.
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

/// Removes comments that begin and end in the line, such as types.
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

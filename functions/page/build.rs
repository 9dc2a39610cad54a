//! Packs the files of the page with gzip, and writes the list of them. One version for all of them is a segment of their
//! path, so that the modules of the page import each other by relative paths.

use std::error::Error;
use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::{env, fs};

use flate2::Compression;
use flate2::write::GzEncoder;
use sha2::{Digest, Sha256};

const INDEX: &str = "index.html";
/// What stands for the files' folder in the index.
const PLACEHOLDER: &str = "/page/VERSION/";

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=assets");
    let out = PathBuf::from(env::var_os("OUT_DIR").ok_or("cargo sets OUT_DIR")?);
    let mut files = Vec::new();
    collect(Path::new("assets"), "", &mut files)?;
    files.sort_unstable();
    let version = version_of(&files);

    let mut list = format!("pub(crate) const VERSION: &str = {version:?};\n");
    let mut entries = Vec::new();
    for (number, (path, content)) in files.iter().enumerate() {
        let packed = out.join(format!("{number}.gz"));
        let media_type =
            media_type(path).ok_or_else(|| format!("assets/{path} has an unknown media type"))?;
        let file = format!(
            r#"PackedFile::of_packed({media_type:?}, include_bytes!(concat!(env!("OUT_DIR"), "/{number}.gz")))"#
        );
        if path == INDEX {
            let index = str::from_utf8(content)?;
            if !index.contains(PLACEHOLDER) {
                return Err(format!("assets/{INDEX} names no file below {PLACEHOLDER}").into());
            }
            let index = index.replace(PLACEHOLDER, &format!("/page/{version}/"));
            fs::write(packed, pack(index.as_bytes())?)?;
            writeln!(list, "pub(crate) static INDEX: PackedFile = {file};")?;
        } else {
            fs::write(packed, pack(content)?)?;
            entries.push(format!("({path:?}, {file})"));
        }
    }
    let (count, entries) = (entries.len(), entries.join(",\n    "));
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

/// A module without the lines that are comments, and without indentation: a quarter of what a phone would load.
///
/// It goes by lines, so no text of a module may span several.
fn without_comments(module: &str) -> String {
    let mut is_in_comment = false;
    let is_code = |line: &&str| {
        is_in_comment |= line.starts_with("/**");
        let is_comment = is_in_comment || line.starts_with("//");
        is_in_comment &= !line.contains("*/");
        !is_comment
    };
    module.lines().map(str::trim_start).filter(is_code).flat_map(|line| [line, "\n"]).collect()
}

fn pack(content: &[u8]) -> io::Result<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(content)?;
    encoder.finish()
}

//! Compresses the files of the page with gzip, and inserts each file's version into its URL in the page.

use std::error::Error;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::{env, fs};

use flate2::Compression;
use flate2::write::GzEncoder;
use sha2::{Digest, Sha256};

const PAGE: &str = "index.html";

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=assets");
    let out = PathBuf::from(env::var_os("OUT_DIR").ok_or("cargo sets OUT_DIR")?);
    let assets = Path::new("assets");
    let mut page = fs::read_to_string(assets.join(PAGE))?;
    for entry in fs::read_dir(assets)? {
        let name = entry?.file_name().into_string().map_err(|name| format!("{name:?} is not UTF-8"))?;
        if name != PAGE {
            let packed = pack(&fs::read(assets.join(&name))?)?;
            let version: String =
                Sha256::digest(&packed)[..8].iter().map(|byte| format!("{byte:02x}")).collect();
            page = page.replace(&format!("/docs/{name}\""), &format!("/docs/{name}?v={version}\""));
            fs::write(out.join(format!("{name}.version")), version)?;
            fs::write(out.join(format!("{name}.gz")), packed)?;
        }
    }
    fs::write(out.join(format!("{PAGE}.gz")), pack(page.as_bytes())?)?;
    Ok(())
}

fn pack(content: &[u8]) -> io::Result<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(content)?;
    encoder.finish()
}

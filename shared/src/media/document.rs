//! Detects the type of documents from their bytes, never from their names.

use std::io::Cursor;

use cfb::CompoundFile;
use rawzip::ZipArchive;

use super::text;
use crate::domain::file::FileType;

/// The maximum unpacked size, in bytes.
const MAX_UNPACKED: u64 = 250 * 1024 * 1024;
/// The maximum compression ratio.
// Documents reach 10, bombs 1,000.
const MAX_RATIO: u64 = 100;
/// Up to this unpacked size, any ratio is accepted.
const HARMLESS: u64 = 10 * 1024 * 1024;
/// The maximum number of packed parts.
// A document with a picture on every page has some hundreds.
const MAX_PARTS: u64 = 10_000;

const UNKNOWN: &str =
    "Upload a PDF, Word, OpenDocument, PowerPoint, RTF, richtext, PostScript, DVI or plain text file.";
const BROKEN: &str = "This file is broken or incomplete.";

pub(super) fn recognise(bytes: &[u8]) -> Result<FileType, String> {
    if bytes.starts_with(b"%PDF-") {
        return pdf(bytes);
    }
    if bytes.starts_with(b"PK\x03\x04") {
        return packed(bytes);
    }
    if bytes.starts_with(b"\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1") {
        return compound(bytes);
    }
    if bytes.starts_with(br"{\rtf") {
        // Some writers end a file with zero bytes.
        let last = bytes.iter().rfind(|byte| **byte != 0 && !byte.is_ascii_whitespace());
        return if last == Some(&b'}') { Ok(FileType::Rtf) } else { Err(BROKEN.to_owned()) };
    }
    if bytes.starts_with(b"%!PS") {
        return Ok(FileType::PostScript);
    }
    // The preamble of DVI version 2, with the units that TeX always writes.
    if bytes.starts_with(b"\xF7\x02\x01\x83\x92\xC0\x1C\x3B\x00\x00") {
        // The file ends with padding of 223s.
        return if bytes.ends_with(&[223; 4]) { Ok(FileType::Dvi) } else { Err(BROKEN.to_owned()) };
    }
    text::recognise(bytes).ok_or_else(|| UNKNOWN.to_owned())
}

fn pdf(bytes: &[u8]) -> Result<FileType, String> {
    // Readers look for the end in the last kilobyte.
    let tail = &bytes[bytes.len().saturating_sub(1024)..];
    if tail.windows(5).any(|window| window == b"%%EOF") { Ok(FileType::Pdf) } else { Err(BROKEN.to_owned()) }
}

/// Detects ZIP-based documents from the table of contents, without unpacking.
fn packed(bytes: &[u8]) -> Result<FileType, String> {
    const ODT: &[u8] = b"application/vnd.oasis.opendocument.text";
    let archive = ZipArchive::from_slice(bytes).map_err(|_| BROKEN)?;
    if archive.entries_hint() > MAX_PARTS {
        return Err("This file has too many parts.".to_owned());
    }
    let (mut unpacked, mut parts) = (0u64, 0);
    let (mut is_word, mut has_types, mut has_macros, mut is_odt) = (false, false, false, false);
    let mut entries = archive.entries();
    while let Some(entry) = entries.next_entry().map_err(|_| BROKEN)? {
        parts += 1;
        // From the table of contents, since unpacking is what a bomb waits for.
        unpacked = unpacked.saturating_add(entry.uncompressed_size_hint());
        let part = archive.get_entry(entry.wayfinder()).map_err(|_| BROKEN)?;
        match entry.file_path().as_ref() {
            b"word/document.xml" => is_word = true,
            b"[Content_Types].xml" => has_types = true,
            b"word/vbaProject.bin" => has_macros = true,
            b"mimetype" if parts == 1 => is_odt = part.data() == ODT,
            _ => {}
        }
    }
    let limit = HARMLESS.max(MAX_RATIO.saturating_mul(bytes.len() as u64)).min(MAX_UNPACKED);
    if unpacked > limit {
        return Err("This file is too large when it is unpacked.".to_owned());
    }
    if has_macros {
        return Err("Save this file without macros.".to_owned());
    }
    match (is_word && has_types, is_odt) {
        (true, false) => Ok(FileType::Docx),
        (false, true) => Ok(FileType::Odt),
        _ => Err(UNKNOWN.to_owned()),
    }
}

/// Detects compound files, the format of Office until 2003.
fn compound(bytes: &[u8]) -> Result<FileType, String> {
    let file = CompoundFile::open(Cursor::new(bytes)).map_err(|_| BROKEN)?;
    match (file.is_stream("/WordDocument"), file.is_stream("/PowerPoint Document")) {
        (true, false) => Ok(FileType::Doc),
        (false, true) => Ok(FileType::Ppt),
        _ => Err(UNKNOWN.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use rawzip::ZipArchiveWriter;

    use super::*;

    /// A ZIP archive of uncompressed parts.
    fn archive(parts: &[(&str, &[u8])]) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut writer = ZipArchiveWriter::new(&mut bytes);
        for (name, content) in parts {
            let (mut entry, config) = writer.new_file(name).start().unwrap();
            let mut part = config.wrap(&mut entry);
            std::io::Write::write_all(&mut part, content).unwrap();
            let (_, descriptor) = part.finish().unwrap();
            entry.finish(descriptor).unwrap();
        }
        writer.finish().unwrap();
        bytes
    }

    fn office(stream: &str) -> Vec<u8> {
        let mut file = CompoundFile::create(Cursor::new(Vec::new())).unwrap();
        file.create_stream(stream).unwrap();
        file.into_inner().into_inner()
    }

    #[test]
    fn every_type_is_known_by_its_bytes() {
        let dvi = [&b"\xF7\x02\x01\x83\x92\xC0\x1C\x3B\x00\x00"[..], &[223; 8]].concat();
        for (bytes, file_type) in [
            (b"%PDF-1.7\n...\n%%EOF\n".to_vec(), FileType::Pdf),
            (archive(&[("[Content_Types].xml", b"<x/>"), ("word/document.xml", b"<x/>")]), FileType::Docx),
            (archive(&[("mimetype", b"application/vnd.oasis.opendocument.text")]), FileType::Odt),
            (office("/WordDocument"), FileType::Doc),
            (office("/PowerPoint Document"), FileType::Ppt),
            (br"{\rtf1\ansi Ada}".to_vec(), FileType::Rtf),
            (b"%!PS-Adobe-3.0\n".to_vec(), FileType::PostScript),
            (dvi, FileType::Dvi),
            ("Ada Byron\nMathématicienne\n".into(), FileType::Text),
        ] {
            assert_eq!(recognise(&bytes), Ok(file_type));
        }
    }

    #[test]
    fn everything_else_is_refused() {
        let macros = archive(&[
            ("[Content_Types].xml", b""),
            ("word/document.xml", b""),
            ("word/vbaProject.bin", b""),
        ]);
        for bytes in [
            &b""[..],
            b"  \n",
            b"\0\0\0\0",
            b"MZ\x90\0",
            b"%PDF-1.7\ncut",
            br"{\rtf1\ansi cut",
            b"<!DOCTYPE html><script>",
            b"\n <svg xmlns='http://www.w3.org/2000/svg'/>",
            "\u{feff}<?xml version='1.0'?>".as_bytes(),
            b"PK\x03\x04 and no archive",
            b"\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1 and no file",
            &office("/Workbook"),
            &archive(&[("xl/workbook.xml", b"")]),
            &archive(&[("a", b""), ("mimetype", b"application/vnd.oasis.opendocument.text")]),
            &macros,
        ] {
            assert!(
                recognise(bytes).is_err(),
                "{:?}",
                String::from_utf8_lossy(&bytes[..bytes.len().min(40)])
            );
        }
    }
}

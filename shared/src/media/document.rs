//! Detects the type of documents from their bytes, never from their names.

use std::io::{Cursor, Read};

use cfb::CompoundFile;
use flate2::read::DeflateDecoder;
use rawzip::{CompressionMethod, ZipArchive};

use super::text;
use crate::domain::media::file::FileType;

/// The maximum unpacked size, in bytes.
const MAX_UNPACKED: u64 = 250 * 1024 * 1024;
/// The maximum ratio of unpacked size to file size.
// Documents reach 10, ZIP bombs 1,000.
const MAX_RATIO: u64 = 100;
/// Up to this unpacked size, any ratio is accepted.
const HARMLESS: u64 = 10 * 1024 * 1024;
/// The maximum number of parts in a ZIP archive.
// A document with a picture on every page has some hundreds.
const MAX_PARTS: u64 = 10_000;

/// How many bytes to unpack of the list of a Word document's parts.
// The list has some 150 bytes per part.
const MAX_TYPES: u64 = 2 * 1024 * 1024;
/// Readers look for the first and the last mark of a PDF within this many bytes of its start and its end.
const EDGE: usize = 1024;

const UNKNOWN: &str = "Upload a PDF, Word, OpenDocument text, PowerPoint (.ppt), RTF, richtext, PostScript, DVI or plain text file.";
const BROKEN: &str = "This file is broken or incomplete.";
const PROTECTED: &str =
    "This file is protected with a password. Save it without a password and upload the new copy.";

/// The first bytes of a format, the check that a file of it is complete, and its type.
type Beginning = (&'static [u8], fn(&[u8]) -> bool, FileType);

/// Formats whose first bytes may follow a byte order mark, blank lines, or headers of a mail or download.
const BEGINNINGS: [Beginning; 3] = [
    (b"%PDF-", is_whole_pdf, FileType::Pdf),
    (br"{\rtf", |bytes| without_padding(bytes).ends_with(b"}"), FileType::Rtf),
    (b"%!PS-Adobe-", |_| true, FileType::PostScript),
];

pub(super) fn recognise(bytes: &[u8]) -> Result<FileType, String> {
    if bytes.starts_with(b"PK\x03\x04") {
        return packed(bytes);
    }
    if bytes.starts_with(b"\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1") {
        return compound(bytes);
    }
    if bytes.starts_with(b"%!PS") {
        return Ok(FileType::PostScript);
    }
    // The preamble of DVI version 2, with the units that TeX always writes.
    if bytes.starts_with(b"\xF7\x02\x01\x83\x92\xC0\x1C\x3B\x00\x00") {
        // The file ends with padding of 223s.
        let is_whole = without_padding(bytes).ends_with(&[223; 4]);
        return if is_whole { Ok(FileType::Dvi) } else { Err(BROKEN.to_owned()) };
    }
    let places = BEGINNINGS.map(|(beginning, is_whole, file_type)| {
        Some((position(&bytes[..bytes.len().min(EDGE)], beginning)?, is_whole, file_type))
    });
    match places.into_iter().flatten().min_by_key(|(place, ..)| *place) {
        Some((_, is_whole, file_type)) if is_whole(bytes) => Ok(file_type),
        Some((0, ..)) => Err(BROKEN.to_owned()),
        // A text may mention one of these formats.
        Some(_) => text::recognise(bytes).ok_or_else(|| BROKEN.to_owned()),
        None => text::recognise(bytes).ok_or_else(|| UNKNOWN.to_owned()),
    }
}

fn position(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    bytes.windows(wanted.len()).position(|window| window == wanted)
}

/// Strips the padding at the end of a file: zero bytes, white space, or the end-of-file mark of DOS.
fn without_padding(bytes: &[u8]) -> &[u8] {
    let is_padding = |byte: &u8| matches!(byte, 0 | 0x1A) || byte.is_ascii_whitespace();
    let end = bytes.iter().rposition(|byte| !is_padding(byte)).map_or(0, |last| last + 1);
    &bytes[..end]
}

fn is_whole_pdf(bytes: &[u8]) -> bool {
    const END: &[u8] = b"%%EOF";
    let Some(end) = bytes.windows(END.len()).rposition(|window| window == END) else { return false };
    let rest = &bytes[end..];
    // After the last `%%EOF`, accept padding or text that a sender has added, but no PDF objects. Those mean that the
    // file is truncated: a linearised PDF (made for the web) also has an `%%EOF` after its first page.
    rest.len() <= EDGE || position(rest, b" obj").is_none()
}

/// Detects ZIP-based documents from the central directory, without unpacking.
fn packed(bytes: &[u8]) -> Result<FileType, String> {
    const ODT: &[u8] = b"application/vnd.oasis.opendocument.text";
    let archive = ZipArchive::from_slice(bytes).map_err(|_| BROKEN)?;
    if archive.entries_hint() > MAX_PARTS {
        return Err("This file has too many parts.".to_owned());
    }
    let mut unpacked = 0u64;
    let mut parts = 0;
    let mut is_word = false;
    let mut has_macros = false;
    let mut is_odt = false;
    let mut types = None;
    let mut entries = archive.entries();
    while let Some(entry) = entries.next_entry().map_err(|_| BROKEN)? {
        parts += 1;
        // Take the sizes from the central directory: unpacking is what a ZIP bomb needs to do harm.
        unpacked = unpacked.saturating_add(entry.uncompressed_size_hint());
        let part = archive.get_entry(entry.wayfinder()).map_err(|_| BROKEN)?;
        match &*part_name(entry.file_path().as_ref()) {
            b"word/document.xml" => is_word = true,
            b"[content_types].xml" => types = Some((entry.compression_method(), part.data())),
            b"word/vbaproject.bin" => has_macros = true,
            b"mimetype" if parts == 1 => is_odt = part.data() == ODT,
            _ => {}
        }
    }
    let limit = HARMLESS.max(MAX_RATIO.saturating_mul(bytes.len() as u64)).min(MAX_UNPACKED);
    if unpacked > limit {
        return Err("This file is too large when it is unpacked.".to_owned());
    }
    // Office on the web names the main part `document2.xml`, so search the list of parts for the type of a Word document.
    let is_word = types.is_some_and(|(method, list)| is_word || lists_word_document(method, list));
    if is_word && has_macros {
        return Err("Save this file without macros.".to_owned());
    }
    match (is_word, is_odt) {
        (true, false) => Ok(FileType::Docx),
        (false, true) => Ok(FileType::Odt),
        _ => Err(UNKNOWN.to_owned()),
    }
}

/// Normalises the name of a part: lower case, and slashes instead of the backslashes of some writers.
fn part_name(path: &[u8]) -> Vec<u8> {
    path.iter().map(|byte| if *byte == b'\\' { b'/' } else { byte.to_ascii_lowercase() }).collect()
}

/// Whether the list of parts names the main part of a Word document.
fn lists_word_document(method: CompressionMethod, list: &[u8]) -> bool {
    let mut types = Vec::new();
    // Ignore errors: search a broken list as far as it can be read.
    let _ = match method {
        CompressionMethod::STORE => list.take(MAX_TYPES).read_to_end(&mut types),
        CompressionMethod::DEFLATE => DeflateDecoder::new(list).take(MAX_TYPES).read_to_end(&mut types),
        _ => return false,
    };
    position(&types, b"wordprocessingml.document.main+xml").is_some()
}

/// Detects compound files, the format of Office until 2003.
fn compound(bytes: &[u8]) -> Result<FileType, String> {
    let file = CompoundFile::open(Cursor::new(bytes)).map_err(|_| BROKEN)?;
    // Office stores a password-protected document as this one stream.
    if file.is_stream("/EncryptedPackage") {
        return Err(PROTECTED.to_owned());
    }
    match (file.is_stream("/WordDocument"), file.is_stream("/PowerPoint Document")) {
        (true, false) => Ok(FileType::Doc),
        (false, true) => Ok(FileType::Ppt),
        _ => Err(UNKNOWN.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::DeflateEncoder;
    use rawzip::ZipArchiveWriter;
    use rawzip::path::EntryPath;

    use super::*;

    const WORD: &[u8] = b"<Override PartName='/x.xml' ContentType='application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml'/>";

    /// A ZIP archive of uncompressed parts.
    fn archive(parts: &[(&str, &[u8])]) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut writer = ZipArchiveWriter::new(&mut bytes);
        for (name, content) in parts {
            let (mut entry, config) = writer.new_file(EntryPath::verbatim(name.as_bytes())).start().unwrap();
            let mut part = config.wrap(&mut entry);
            part.write_all(content).unwrap();
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
            (b"\xEF\xBB\xBF\r\n\r\n%PDF-1.7\n...\n%%EOF".to_vec(), FileType::Pdf),
            (b"Content-Type: application/pdf\r\n\r\n%PDF-1.7\n...\n%%EOF".to_vec(), FileType::Pdf),
            ([b"%PDF-1.7\n%%EOF\n", &[0; 5000][..]].concat(), FileType::Pdf),
            ([b"%PDF-1.7\n%%EOF\n", &b"<p>Goodbye</p>\n".repeat(200)[..]].concat(), FileType::Pdf),
            (archive(&[("[Content_Types].xml", b"<x/>"), ("word/document.xml", b"<x/>")]), FileType::Docx),
            (archive(&[("[Content_Types].xml", WORD), ("word/document2.xml", b"<x/>")]), FileType::Docx),
            (archive(&[("[content_types].xml", b"<x/>"), (r"word\document.xml", b"<x/>")]), FileType::Docx),
            (archive(&[("mimetype", b"application/vnd.oasis.opendocument.text")]), FileType::Odt),
            (office("/WordDocument"), FileType::Doc),
            (office("/PowerPoint Document"), FileType::Ppt),
            (br"{\rtf1\ansi Ada}".to_vec(), FileType::Rtf),
            (b"\xEF\xBB\xBF\n{\\rtf1\\ansi Ada}\0\0\r\n\x1A".to_vec(), FileType::Rtf),
            (br"{\rtf1\ansi How %PDF-1.7 begins}".to_vec(), FileType::Rtf),
            (b"%!PS-Adobe-3.0\n".to_vec(), FileType::PostScript),
            (b"\x1B%-12345X@PJL\r\n%!PS-Adobe-3.0\n".to_vec(), FileType::PostScript),
            (br"How I learnt {\rtf and %PDF-1.7".to_vec(), FileType::Text),
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
            b"\n%PDF-1.7\n\0 cut",
            // Truncated after the end of the first page.
            &[b"%PDF-1.7\n%%EOF\n9 0 obj\n", &[7; 2000][..]].concat(),
            &[&[b' '; 1025][..], b"%PDF-1.7\n\0%%EOF"].concat(),
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

    #[test]
    fn a_document_with_a_password_is_refused_as_such() {
        assert_eq!(recognise(&office("/EncryptedPackage")), Err(PROTECTED.to_owned()));
    }

    #[test]
    fn the_list_of_types_is_unpacked_up_to_its_limit() {
        let deflated = |list: &[u8]| {
            let mut encoder = DeflateEncoder::new(Vec::new(), Compression::fast());
            encoder.write_all(list).unwrap();
            encoder.finish().unwrap()
        };
        let list = deflated(WORD);
        assert!(lists_word_document(CompressionMethod::DEFLATE, &list));
        assert!(lists_word_document(CompressionMethod::DEFLATE, &list[..list.len() - 1]));
        assert!(!lists_word_document(CompressionMethod::STORE, &list));
        let blank = vec![b' '; usize::try_from(MAX_TYPES).unwrap()];
        assert!(!lists_word_document(CompressionMethod::DEFLATE, &deflated(&[&blank, WORD].concat())));
        assert!(lists_word_document(CompressionMethod::DEFLATE, &deflated(&[WORD, &blank].concat())));
    }
}

//! One part of a form: its headers and its content.

use axum::body::Bytes;
use axum::http::header::{CONTENT_DISPOSITION, HeaderName};
use base64::Engine as _;
use base64::alphabet::STANDARD;
use base64::engine::DecodePaddingMode;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig};
use mail_parser::decoders::quoted_printable::quoted_printable_decode;
use percent_encoding::percent_decode_str;
use sha2::{Digest, Sha256};

use super::disposition::{Disposition, decode_text};
use crate::error::{Error, Result};
use crate::http::body::is_of_type;

const MAX_TEXT: usize = 64 * 1024;
const TRANSFER_ENCODING: HeaderName = HeaderName::from_static("content-transfer-encoding");

/// One part of a form.
///
/// The reader of the field decides whether the part is text or a file. Its headers are no reliable hint: some clients send
/// files without a name, others send JSON as a file.
#[derive(Debug)]
pub(in crate::http) struct FormPart {
    pub(super) name: String,
    /// Browsers send an empty name if the user has chosen no file.
    pub(super) file_name: Option<String>,
    content_type: Option<String>,
    charset: Option<String>,
    transfer_encoding: Option<String>,
    bytes: Bytes,
    /// Whether another part has the same name. Only the field's reader refuses it, because fields that only responses have are
    /// ignored.
    pub(super) is_repeated: bool,
}

impl FormPart {
    pub(super) async fn read(part: multer::Field<'_>) -> Result<Self> {
        let header = |name: HeaderName| part.headers().get(name).map(|value| value.as_bytes());
        let Disposition { name, file_name } =
            Disposition::parse(header(CONTENT_DISPOSITION).unwrap_or_default());
        let Some(name) = name else {
            return Err(Error::MalformedForm("a part has no name".to_owned()));
        };
        let content_type = part.content_type();
        let charset = content_type.and_then(|declared| declared.get_param("charset"));
        let encoding = header(TRANSFER_ENCODING).map(|value| value.trim_ascii().to_ascii_lowercase());
        Ok(Self {
            name,
            file_name,
            content_type: content_type.map(ToString::to_string),
            charset: charset.map(|charset| charset.as_str().to_owned()),
            transfer_encoding: encoding.map(|value| String::from_utf8_lossy(&value).into_owned()),
            bytes: part.bytes().await.map_err(super::malformed)?,
            is_repeated: false,
        })
    }

    /// Whether the part is empty with an empty file name, as browsers send it if the user has chosen no file.
    pub(super) fn is_unchosen_file(&self) -> bool {
        self.bytes.is_empty() && self.file_name.as_ref().is_some_and(String::is_empty)
    }

    /// Whether the part has a file name, even an empty one, or a type other than `text/plain`.
    pub(super) fn is_declared_file(&self) -> bool {
        self.file_name.is_some()
            || self.content_type.as_ref().is_some_and(|declared| !is_of_type(declared, "text/plain"))
    }

    /// The content after its `Content-Transfer-Encoding`; an error if the part is repeated or wrongly encoded.
    pub(super) fn content(&self) -> Result<Bytes, String> {
        if self.is_repeated {
            return Err("This field appears twice. Send it once.".to_owned());
        }
        // Decoding only shortens the content, so the limit of the body is enough.
        let decoded = match self.transfer_encoding.as_deref() {
            Some("base64") => decode_base64(self.bytes.iter().copied()),
            Some("quoted-printable") => quoted_printable_decode(&self.bytes),
            // Other values, such as a charset, which some clients send here, do not encode the content.
            _ => return Ok(self.bytes.clone()),
        };
        let refusal = "The content of this part is not what its Content-Transfer-Encoding declares. Send it as it is, without this header.";
        decoded.map(Bytes::from).ok_or_else(|| refusal.to_owned())
    }

    /// The content as text of at most 64 KiB: UTF-8, or decoded from the declared charset.
    pub(in crate::http) fn text(&self) -> Result<String, String> {
        let content = self.content()?;
        if content.len() > MAX_TEXT {
            return Err("Ensure this field has no more than 64 KiB.".to_owned());
        }
        // UTF-8 first, whatever the charset: some clients declare their library's default, and other encodings are hardly
        // ever valid UTF-8.
        if let Ok(text) = std::str::from_utf8(&content) {
            return Ok(text.to_owned());
        }
        decode_text(&content, self.charset.as_deref()).ok_or_else(|| "Encode text as UTF-8.".to_owned())
    }

    /// Hashes headers and content.
    pub(super) fn hash(&self, hasher: Sha256) -> Sha256 {
        let Self { name, file_name, content_type, transfer_encoding, bytes, .. } = self;
        let texts = [Some(name), file_name.as_ref(), content_type.as_ref(), transfer_encoding.as_ref()];
        let texts = texts.map(|text| text.map(|text| text.as_bytes()));
        texts.into_iter().chain([Some(&bytes[..])]).fold(hasher, |hasher, value| match value {
            // The length separates the values.
            Some(value) => hasher.chain_update((value.len() as u64).to_be_bytes()).chain_update(value),
            // An absent text differs from an empty one.
            None => hasher.chain_update(u64::MAX.to_be_bytes()),
        })
    }
}

/// Decodes base64 leniently: with line breaks, with or without padding.
fn decode_base64(text: impl Iterator<Item = u8>) -> Option<Vec<u8>> {
    const LENIENT: GeneralPurpose = GeneralPurpose::new(
        &STANDARD,
        GeneralPurposeConfig::new()
            .with_decode_padding_mode(DecodePaddingMode::Indifferent)
            .with_decode_allow_trailing_bits(true),
    );
    let text: Vec<u8> = text.filter(|byte| !byte.is_ascii_whitespace()).collect();
    LENIENT.decode(text).ok()
}

/// The bytes of a base64 data URI; `None` if the text is not one.
pub(super) fn decode_data_uri(text: &str) -> Option<Vec<u8>> {
    let (head, data) = text.split_once(',')?;
    // In `data:image/png;base64`, only the end is checked: the file's type is detected from its bytes.
    if !head.rsplit(';').next()?.trim().eq_ignore_ascii_case("base64") {
        return None;
    }
    decode_base64(percent_decode_str(data))
}

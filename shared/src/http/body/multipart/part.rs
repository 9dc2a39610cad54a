//! One part of a form: what its headers say, and its content.

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
/// The reader of its field decides whether it is a text or a file. Clients give no reliable hint: some send files without a
/// name, and some send JSON as a file.
#[derive(Debug)]
pub(in crate::http) struct FormPart {
    pub(super) name: String,
    /// Empty in browsers if no file was chosen.
    pub(super) file_name: Option<String>,
    content_type: Option<String>,
    charset: Option<String>,
    transfer_encoding: Option<String>,
    bytes: Bytes,
    /// Whether another part has the same name. Refused only where the field is read, because fields that only responses have are ignored.
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

    /// Whether it is what browsers send of a field without a chosen file.
    pub(super) fn is_unchosen_file(&self) -> bool {
        self.bytes.is_empty() && self.file_name.as_ref().is_some_and(String::is_empty)
    }

    /// Whether it is declared as a file: by a file name, even an empty one, or a type that texts do not have.
    pub(super) fn is_declared_file(&self) -> bool {
        self.file_name.is_some()
            || self.content_type.as_ref().is_some_and(|declared| !is_of_type(declared, "text/plain"))
    }

    /// The decoded content.
    pub(super) fn content(&self) -> Result<Bytes, String> {
        if self.is_repeated {
            return Err("This field appears twice. Send it once.".to_owned());
        }
        // Decoded, these are shorter than the body, whose length is limited.
        let decoded = match self.transfer_encoding.as_deref() {
            Some("base64") => decode_base64(self.bytes.iter().copied()),
            Some("quoted-printable") => quoted_printable_decode(&self.bytes),
            // The rest leave the content as it is, also a charset, which some clients declare here.
            _ => return Ok(self.bytes.clone()),
        };
        let refusal = "The content of this part is not what its Content-Transfer-Encoding declares. Send it as it is, without this header.";
        decoded.map(Bytes::from).ok_or_else(|| refusal.to_owned())
    }

    /// The content as a text.
    pub(in crate::http) fn text(&self) -> Result<String, String> {
        let content = self.content()?;
        if content.len() > MAX_TEXT {
            return Err("Ensure this field has no more than 64 KiB.".to_owned());
        }
        // UTF-8 whatever is declared: some clients declare the default of their library, and no other encoding looks like it.
        if let Ok(text) = std::str::from_utf8(&content) {
            return Ok(text.to_owned());
        }
        decode_text(&content, self.charset.as_deref()).ok_or_else(|| "Encode text as UTF-8.".to_owned())
    }

    /// Hashes all of it.
    pub(super) fn hash(&self, hasher: Sha256) -> Sha256 {
        let Self { name, file_name, content_type, transfer_encoding, bytes, .. } = self;
        let texts = [Some(name), file_name.as_ref(), content_type.as_ref(), transfer_encoding.as_ref()];
        let texts = texts.map(|text| text.map(|text| text.as_bytes()));
        texts.into_iter().chain([Some(&bytes[..])]).fold(hasher, |hasher, value| match value {
            // The length tells where each ends.
            Some(value) => hasher.chain_update((value.len() as u64).to_be_bytes()).chain_update(value),
            // An absent text differs from an empty one.
            None => hasher.chain_update(u64::MAX.to_be_bytes()),
        })
    }
}

/// Decodes base64 as clients write it: in lines, and with or without padding.
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

/// The bytes of a data URI in base64.
pub(super) fn decode_data_uri(text: &str) -> Option<Vec<u8>> {
    let (head, data) = text.split_once(',')?;
    // `data:image/png;base64`; only the end matters, because a file is known by its bytes.
    if !head.rsplit(';').next()?.trim().eq_ignore_ascii_case("base64") {
        return None;
    }
    decode_base64(percent_decode_str(data))
}

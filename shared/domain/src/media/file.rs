//! Photos and CVs, their owners, and types of files.

use serde::{Deserialize, Serialize};

use crate::id::FileId;
use crate::names::named;

named! {
    /// A kind of file that an account can have, at most one of each.
    pub enum FileKind {
        /// A photo of the candidate or customer.
        Photo = "photo",
        /// A curriculum vitae.
        Cv = "cv",
    }
}

impl FileKind {
    /// The kind in words.
    pub fn title(self) -> &'static str {
        match self {
            Self::Photo => "A photo",
            Self::Cv => "A CV",
        }
    }

    /// The maximum size in bytes.
    pub fn max_bytes(self) -> u64 {
        match self {
            Self::Photo => 10 * 1024 * 1024,
            Self::Cv => 25 * 1024 * 1024,
        }
    }
}

/// The type of a file, detected from its bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FileType {
    /// JPEG picture.
    Jpeg,
    /// PNG picture.
    Png,
    /// Portable Document Format.
    Pdf,
    /// Word up to 2003.
    Doc,
    /// Word from 2007 on.
    Docx,
    /// OpenDocument text.
    Odt,
    /// PowerPoint up to 2003.
    Ppt,
    /// Rich Text Format.
    Rtf,
    /// PostScript.
    PostScript,
    /// TeX's device independent format.
    Dvi,
    /// Text in UTF-8.
    Text,
    /// Text in ISO 8859-1.
    TextLatin1,
    /// Text in Windows-1252: ISO 8859-1, with typographic quotation marks and dashes.
    TextWindows1252,
    /// Text in UTF-16, with a byte order mark.
    TextUtf16,
    /// Richtext of MIME (RFC 1341), or enriched text (RFC 1896), in UTF-8.
    RichText,
    /// MPEG-4 video.
    Mp4,
    /// Flash video.
    Flv,
}

impl FileType {
    /// The content type for responses.
    pub fn content_type(self) -> &'static str {
        self.names().0
    }

    /// Whether the file is text without any markup.
    pub fn is_plain_text(self) -> bool {
        matches!(self, Self::Text | Self::TextLatin1 | Self::TextWindows1252 | Self::TextUtf16)
    }

    /// The file extension.
    pub fn extension(self) -> &'static str {
        self.names().1
    }

    fn names(self) -> (&'static str, &'static str) {
        match self {
            Self::Jpeg => ("image/jpeg", "jpg"),
            Self::Png => ("image/png", "png"),
            Self::Pdf => ("application/pdf", "pdf"),
            Self::Doc => ("application/msword", "doc"),
            Self::Docx => ("application/vnd.openxmlformats-officedocument.wordprocessingml.document", "docx"),
            Self::Odt => ("application/vnd.oasis.opendocument.text", "odt"),
            Self::Ppt => ("application/vnd.ms-powerpoint", "ppt"),
            Self::Rtf => ("application/rtf", "rtf"),
            Self::PostScript => ("application/postscript", "ps"),
            Self::Dvi => ("application/x-dvi", "dvi"),
            Self::Text => ("text/plain; charset=utf-8", "txt"),
            Self::TextLatin1 => ("text/plain; charset=iso-8859-1", "txt"),
            Self::TextWindows1252 => ("text/plain; charset=windows-1252", "txt"),
            Self::TextUtf16 => ("text/plain; charset=utf-16", "txt"),
            Self::RichText => ("text/richtext; charset=utf-8", "rtx"),
            Self::Mp4 => ("video/mp4", "mp4"),
            Self::Flv => ("video/x-flv", "flv"),
        }
    }
}

/// A stored file. It never changes: a new photo is a new file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredFile {
    pub id: FileId,
    /// The detected type.
    pub file_type: FileType,
}

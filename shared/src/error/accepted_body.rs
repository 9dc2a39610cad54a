//! The media types that endpoints accept in request bodies.

/// The media types that an endpoint accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AcceptedBody {
    /// Only JSON.
    Json,
    /// JSON, or `multipart/form-data`, which may contain files.
    JsonOrForm,
    /// `multipart/form-data` with a file.
    Form,
    /// JSON, or `application/x-www-form-urlencoded`.
    JsonOrParameters,
}

impl AcceptedBody {
    pub(super) fn advice(self) -> &'static str {
        match self {
            Self::Json => "Send the body as application/json.",
            Self::JsonOrForm => "Send the body as application/json, or as multipart/form-data with files.",
            Self::JsonOrParameters => {
                "Send the body as application/x-www-form-urlencoded, or as application/json."
            }
            Self::Form => {
                "Send the body as multipart/form-data, with the file in the part `file`, which has a file name."
            }
        }
    }
}

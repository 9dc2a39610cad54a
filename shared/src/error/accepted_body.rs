//! The media types of request bodies.

/// The media types that an endpoint takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AcceptedBody {
    /// JSON alone.
    Json,
    /// JSON, or a form that may hold files.
    JsonOrForm,
    /// A form that holds a file.
    Form,
    /// JSON, or a form as links and OAuth have it.
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

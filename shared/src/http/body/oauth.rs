//! Bodies of OAuth requests (RFC 6749): form parameters, or the same as JSON. The standard demands that unknown parameters are
//! ignored, which permits extensions, and that repeated parameters are refused.

use std::borrow::Cow;
use std::fmt;

use axum::body::Bytes;
use axum::extract::{FromRequest, Request};
use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::{Map, Value};
use url::form_urlencoded;

use crate::app::App;
use crate::error::{AcceptedBody, Error, FieldErrors, Result};
use crate::http::body::fields::BodyFields;
use crate::http::body::{content_type, is_of_type, read_body};

/// The maximum size of a body in bytes.
const MAX_BYTES: usize = 64 * 1024;
/// The maximum number of repeated parameters that one response reports: a body has room for thousands.
const MAX_REPORTED: usize = 20;
const FORM: &str = "application/x-www-form-urlencoded";

/// The parameters of an OAuth request.
#[derive(Debug)]
pub struct OAuthBody(pub BodyFields);

impl FromRequest<App> for OAuthBody {
    type Rejection = Error;

    async fn from_request(request: Request, _: &App) -> Result<Self> {
        let declared = content_type(&request).unwrap_or("application/json").to_owned();
        let is_form = is_of_type(&declared, FORM);
        if !is_form && !is_of_type(&declared, "application/json") {
            return Err(Error::UnsupportedMediaType(AcceptedBody::JsonOrParameters));
        }
        let body = read_body(request.into_body(), MAX_BYTES).await?;
        let sent = if is_form {
            form_urlencoded::parse(&body)
                .map(|(name, value)| (name.into_owned(), value.into_owned().into()))
                .collect()
        } else {
            match serde_json::from_slice(&body) {
                Ok(Members(members)) => members,
                Err(_) => {
                    return Err(invalid_request(
                        "The body is no JSON object, and is not declared as a form.",
                    ));
                }
            }
        };
        Ok(Self(fields_of(sent)))
    }
}

/// The fields of `sent`, with an error for each repeated name. RFC 6749 treats a parameter without a value as absent.
fn fields_of(sent: Vec<(String, Value)>) -> BodyFields {
    let mut object = Map::new();
    let mut repeated = Vec::new();
    for (name, value) in sent {
        if object.contains_key(&name) {
            if repeated.len() < MAX_REPORTED && !repeated.contains(&name) {
                repeated.push(name);
            }
        } else if value != "" {
            object.insert(name, value);
        }
    }
    let mut fields = BodyFields::of_object(object, Bytes::new()).that_ignores_unknown_names();
    for name in repeated {
        let shown: String = name.chars().take(100).collect();
        fields.refuse(&shown, "This parameter may be sent only once.");
    }
    fields
}

/// The members of a JSON object in order, including repeated names, which a map would merge.
struct Members(Vec<(String, Value)>);

impl<'de> Deserialize<'de> for Members {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct MemberVisitor;

        impl<'de> Visitor<'de> for MemberVisitor {
            type Value = Members;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }

        deserializer.deserialize_map(MemberVisitor)
    }
}

/// OAuth's error `invalid_request`.
fn invalid_request(detail: impl Into<Cow<'static, str>>) -> Error {
    Error::OAuth { error: "invalid_request", code: "invalid_request", detail: detail.into() }
}

/// Turns validation errors into OAuth's `invalid_request`; returns other errors unchanged.
pub fn or_invalid_request(error: Error) -> Error {
    match error {
        Error::Fields(messages) => invalid_request(described(&messages)),
        error => error,
    }
}

/// All messages with their parameters' names. `?` replaces characters that RFC 6749 forbids.
fn described(messages: &FieldErrors) -> String {
    let lines = messages.lines().map(|(name, message)| format!("{name}: {message}"));
    let text = lines.collect::<Vec<_>>().join(" ");
    text.chars().map(|character| if is_allowed(character) { character } else { '?' }).collect()
}

fn is_allowed(character: char) -> bool {
    matches!(character, ' '..='~') && !matches!(character, '"' | '\\')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(sent: &str) -> Result<(String, Option<String>)> {
        let Members(members) = serde_json::from_str(sent).unwrap();
        let mut body = fields_of(members);
        let name = body.required("name", |text| Ok(text.to_owned()));
        let other = body.text("other", |text| Ok(text.to_owned()));
        body.finish(|| Some((name?, other))).map_err(or_invalid_request)
    }

    #[test]
    fn unknown_parameters_are_ignored_and_empty_ones_were_not_sent() {
        let sent = r#"{"name": "a", "other": "", "resource": ["x"], "made_up": 1}"#;
        assert_eq!(read(sent).unwrap(), ("a".to_owned(), None));
    }

    #[test]
    fn twenty_repeated_parameters_are_reported() {
        let all = (0..1000).map(|number| format!(r#""p{}": 1"#, number % 500));
        let error = read(&format!("{{{}}}", all.collect::<Vec<_>>().join(","))).unwrap_err();
        let reported = error.body()["detail"].as_str().unwrap().matches("only once").count();
        assert_eq!(reported, 20);
    }

    #[test]
    fn refusals_name_the_parameter_in_characters_that_the_standard_allows() {
        for (sent, detail) in [
            (r#"{"name": ""}"#, "name: This field is required."),
            (r#"{"name": "a", "name": "a"}"#, "name: This parameter may be sent only once."),
            (
                r#"{"name": 1, "\"é": 1, "\"é": 2}"#,
                "??: This parameter may be sent only once. name: Not a valid string.",
            ),
        ] {
            let error = read(sent).unwrap_err();
            let expected = serde_json::json!({
                "error": "invalid_request", "error_description": detail, "code": "invalid_request", "detail": detail,
            });
            assert_eq!(error.body(), expected);
        }
    }
}

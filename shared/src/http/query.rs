//! The query string of a request.

use std::collections::BTreeSet;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use percent_encoding::percent_decode_str;
use url::form_urlencoded;

use super::expand::ExpandFields;
use super::names;
use super::wire::Uri;
use crate::app::App;
use crate::error::{Error, FieldErrors, Result};

/// Parameters without meaning that HTTP libraries add to every request.
const MEANINGLESS: [(&str, Option<&str>); 2] = [("format", Some("json")), ("_", None)];

/// The parameters of a query string, and their errors so far.
///
/// A method that reads a parameter returns `None` if it is absent or invalid; [`QueryParameters::finish`] returns the errors,
/// before the handler reads or writes anything. It also refuses unread and repeated parameters.
#[derive(Debug)]
pub struct QueryParameters {
    /// The request's URL without the query.
    address: Uri,
    sent: Vec<(String, String)>,
    /// The names that the handler has asked for.
    asked: Vec<&'static str>,
    /// Those of the asked names that may be repeated.
    lists: Vec<&'static str>,
    errors: FieldErrors,
}

impl FromRequestParts<App> for QueryParameters {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self> {
        // Decoding gives the list's canonical URL: identifiers have one spelling, so only percent-encoding can differ.
        let path = percent_decode_str(parts.uri.path()).decode_utf8_lossy();
        let origin = app.config().base_url.origin().ascii_serialization();
        Ok(Self::parse(Uri::new(format!("{origin}{path}")), parts.uri.query()))
    }
}

impl QueryParameters {
    /// Parses the query string of a request to `address`.
    pub fn parse(address: Uri, query: Option<&str>) -> Self {
        let sent = form_urlencoded::parse(query.unwrap_or_default().as_bytes()).into_owned().collect();
        let (asked, lists, errors) = Default::default();
        Self { address, sent, asked, lists, errors }
    }

    /// Refuses all parameters, for a route that takes none.
    pub(crate) fn refuse_all(query: Option<&str>) -> Result<()> {
        match query {
            None | Some("") => Ok(()),
            query => Self::parse(Uri::new(String::new()), query).finish(),
        }
    }

    /// Reads a filter with `parse`. Ignores an empty value; `None` if the value is absent, empty or invalid.
    pub fn filter<T>(
        &mut self,
        name: &'static str,
        parse: impl FnOnce(&str) -> Result<T, String>,
    ) -> Option<T> {
        let value = self.value(name).filter(|value| !value.is_empty()).map(parse)?;
        self.errors.read(name, value)
    }

    /// Reads a filter that finds one resource with `parse`, which must refuse an empty value; `None` if the value is absent or
    /// invalid.
    // An empty value is an error: a client that has lost the value must not get the whole list.
    pub fn unique_filter<T>(
        &mut self,
        name: &'static str,
        parse: impl FnOnce(&str) -> Result<T, String>,
    ) -> Option<T> {
        let value = self.value(name).map(parse)?;
        self.errors.read(name, value)
    }

    /// Reads `true` or `false`; `None` if the value is absent or invalid.
    pub fn flag(&mut self, name: &'static str) -> Option<bool> {
        self.unique_filter(name, |text| text.parse().map_err(|_| "Must be `true` or `false`.".to_owned()))
    }

    /// Reads a required parameter with `parse`. Records an error if it is absent or invalid.
    pub fn required<T>(
        &mut self,
        name: &'static str,
        parse: impl FnOnce(&str) -> Result<T, String>,
    ) -> Option<T> {
        if self.value(name).is_none() {
            self.errors.add(name, "This field is required.");
        }
        self.unique_filter(name, parse)
    }

    /// Reads a comma-separated list, whose parameter may be repeated; `parse` reads each item. `None` if it is absent or invalid.
    pub fn list<T: Ord>(
        &mut self,
        name: &'static str,
        parse: impl Fn(&str) -> Result<T, String>,
    ) -> Option<BTreeSet<T>> {
        self.value(name)?;
        self.lists.push(name);
        let lists = self.sent.iter().filter(|(key, _)| key == name);
        let items = lists.flat_map(|(_, list)| list.split(',').map(str::trim)).map(parse).collect();
        self.errors.read(name, items)
    }

    /// Reads `expand`: which of the references `names` the client wants expanded.
    pub fn expand(&mut self, names: &[&'static str]) -> ExpandFields {
        const EXPAND: &str = "expand";
        self.asked.push(EXPAND);
        self.lists.push(EXPAND);
        let lists = self.sent.iter().filter(|(name, _)| name == EXPAND).map(|(_, list)| list.as_str());
        let read = ExpandFields::read(lists, names);
        self.errors.read(EXPAND, read).unwrap_or_default()
    }

    /// Records an error about a parameter.
    pub fn refuse(&mut self, name: &str, message: impl Into<String>) {
        self.errors.add(name, message);
    }

    /// Fails for the first unknown or repeated parameter, otherwise with all invalid values together.
    pub fn finish(&mut self) -> Result<()> {
        let is_meaningless = |(name, value): &&(String, String)| {
            MEANINGLESS.iter().any(|(known, of)| name == known && of.is_none_or(|of| value == of))
        };
        let mut seen = Vec::new();
        for (name, _) in self.sent.iter().filter(|parameter| !is_meaningless(parameter)) {
            let shown = names::shown(name);
            let Some(known) = self.asked.iter().find(|known| name == *known) else {
                let problem = format!("There is no parameter {shown}.");
                let detail = names::with_suggestion(problem, name, self.asked.iter().copied());
                return Err(Error::UnknownParameter { parameter: shown, detail });
            };
            if seen.contains(known) && !self.lists.contains(known) {
                return Err(Error::RepeatedParameter(shown));
            }
            seen.push(known);
        }
        match std::mem::take(&mut self.errors) {
            errors if errors.is_empty() => Ok(()),
            errors => Err(Error::Fields(errors)),
        }
    }

    /// The URL of the request for another `position` in the list: replaces these parameters and keeps the others.
    pub fn link_to<const N: usize>(&self, position: [(&str, String); N]) -> Uri {
        let kept = self.sent.iter().filter(|(name, _)| position.iter().all(|(other, _)| name != other));
        let mut query = form_urlencoded::Serializer::new(String::new());
        Uri::new(format!("{}?{}", self.address, query.extend_pairs(kept).extend_pairs(&position).finish()))
    }

    /// Reads an integer from 1 to `most`; `default` if it is absent or invalid.
    pub(super) fn whole_number(&mut self, name: &'static str, default: u64, most: u64) -> u64 {
        let number = self.unique_filter(name, |text| {
            // `parse` would accept a plus sign.
            let digits = Some(text).filter(|text| text.bytes().all(|byte| byte.is_ascii_digit()));
            let number =
                digits.and_then(|digits| digits.parse().ok()).filter(|number| (1..=most).contains(number));
            number.ok_or_else(|| format!("Use a whole number from 1 to {most}."))
        });
        number.unwrap_or(default)
    }

    /// Marks a parameter as read and returns its first value.
    fn value(&mut self, name: &'static str) -> Option<&str> {
        self.asked.push(name);
        self.sent.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finish(query: &str) -> Result<()> {
        let mut parameters = QueryParameters::parse(Uri::new(String::new()), Some(query));
        parameters.filter("status", |text| if text == "x" { Err("Wrong.".to_owned()) } else { Ok(()) });
        parameters.expand(&["labels"]);
        parameters.finish()
    }

    #[test]
    fn names_that_nothing_asks_for_and_repeated_ones_are_refused() {
        for good in ["", "status=", "status=a&expand=labels&expand=labels", "format=json&_=1&_=2"] {
            assert!(finish(good).is_ok(), "{good}");
        }
        for unknown in ["x=", "Status=a", "=", "format=csv", "status=x&other", "other&status=a&status=b"] {
            assert!(matches!(finish(unknown), Err(Error::UnknownParameter { .. })), "{unknown}");
        }
        for repeated in ["status=a&status=a", "status=x&expand=labels&status=", "status=a&status=b&other"] {
            assert!(matches!(finish(repeated), Err(Error::RepeatedParameter(_))), "{repeated}");
        }
        for wrong in ["status=x", "expand=roles"] {
            assert!(matches!(finish(wrong), Err(Error::Fields(_))), "{wrong}");
        }
    }
}

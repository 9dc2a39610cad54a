//! Lists as clients ask for them: the query, pages in memory, and the view of a page.

mod budget;
mod cursor;
mod slice;
mod view;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use percent_encoding::percent_decode_str;
use serde::Serialize;
use url::form_urlencoded;

pub use budget::ResponseBudget;
pub use view::PageView;

use super::expand::ExpandFields;
use super::query::QueryParameters;
use super::wire::Uri;
use crate::app::App;
use crate::error::{Error, Result};
use crate::store::page::{Page, PageCursor, PageRequest};

/// Rows of a page if the client sends no `page_size`.
pub(crate) const DEFAULT_SIZE: u32 = 20;
pub(crate) const MAX_SIZE: u32 = 100;

/// A request for a page of a list.
#[derive(Debug)]
pub struct ListQuery {
    address: Uri,
    page: PageRequest,
    parameters: QueryParameters,
}

impl FromRequestParts<App> for ListQuery {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self> {
        // Only the percent-encoding may differ from the list's own URL: identifiers have one spelling.
        let path = percent_decode_str(parts.uri.path()).decode_utf8_lossy();
        let origin = app.config().base_url.origin().ascii_serialization();
        Self::parse(Uri::new(format!("{origin}{path}")), parts.uri.query())
    }
}

impl ListQuery {
    /// Reads the query string of a request for the list at `address`.
    pub fn parse(address: Uri, query: Option<&str>) -> Result<Self> {
        let parameters = QueryParameters::parse(query);
        let size = whole_number(&parameters, "page_size", DEFAULT_SIZE.into(), MAX_SIZE.into())?;
        let page = PageRequest {
            number: whole_number(&parameters, "page", 1, u64::MAX)?,
            size: u32::try_from(size).map_err(Error::internal)?,
            cursor: parameters.value("cursor").map(cursor::decode).transpose()?,
        };
        Ok(Self { address, page, parameters })
    }

    pub fn page(&self) -> &PageRequest {
        &self.page
    }

    /// Returns the value of a filter, read by `parse`; `None` if it is absent or empty.
    pub fn filter<T>(&self, name: &str, parse: impl FnOnce(&str) -> Result<T, String>) -> Result<Option<T>> {
        let value = self.parameters.iter().find(|(key, value)| key == name && !value.is_empty());
        value.map(|(_, value)| parse(value).map_err(|message| Error::field(name, message))).transpose()
    }

    /// Returns the value of a filter that finds one resource, read by `parse`, which refuses an empty value; `None` if it is
    /// absent.
    // A client that has no value by mistake must not get the whole list.
    pub fn unique_filter<T>(
        &self,
        name: &str,
        parse: impl FnOnce(&str) -> Result<T, String>,
    ) -> Result<Option<T>> {
        let value = self.parameters.value(name);
        value.map(|value| parse(value).map_err(|message| Error::field(name, message))).transpose()
    }

    /// Returns the references, of these `names`, that the client wants expanded.
    pub fn expand(&self, names: &[&'static str]) -> Result<ExpandFields> {
        ExpandFields::read(&self.parameters, names)
    }

    /// Returns the number of rows before the page.
    pub fn rows_before(&self) -> u64 {
        (self.page.number - 1).saturating_mul(u64::from(self.page.size))
    }

    /// Refuses a page past the end of a list of `total` rows. Links never lead there, even if rows have been deleted.
    pub fn check_range(&self, total: u64) -> Result<()> {
        let is_by_number = self.page.cursor.is_none() && self.page.number > 1;
        if is_by_number && self.rows_before() >= total {
            return Err(Error::field("page", format!("The list ends before page {}.", self.page.number)));
        }
        Ok(())
    }

    /// Returns the view of `page` of the list, which has `total` rows. Rows that do not fit in one response are left to the
    /// next page.
    pub fn answer<T: Serialize>(&self, page: Page<T>, total: u64) -> Result<PageView<T>> {
        self.check_range(total)?;
        PageView::new(self, page, total)
    }

    fn link(&self, number: u64, cursor: &PageCursor) -> Uri {
        self.link_to([
            ("page", number.to_string()),
            ("page_size", self.page.size.to_string()),
            ("cursor", cursor::encode(cursor)),
        ])
    }

    /// Returns the URL of the list with the parameters of this request, but for those of the `position`.
    pub fn link_to<const N: usize>(&self, position: [(&str, String); N]) -> Uri {
        let kept = self.parameters.iter().filter(|(name, _)| position.iter().all(|(other, _)| name != other));
        let mut query = form_urlencoded::Serializer::new(String::new());
        Uri::new(format!("{}?{}", self.address, query.extend_pairs(kept).extend_pairs(&position).finish()))
    }
}

fn whole_number(parameters: &QueryParameters, name: &str, default: u64, most: u64) -> Result<u64> {
    let Some(text) = parameters.value(name) else { return Ok(default) };
    // `parse` accepts a plus sign.
    let digits = Some(text).filter(|text| text.bytes().all(|byte| byte.is_ascii_digit()));
    let number = digits.and_then(|digits| digits.parse().ok()).filter(|number| (1..=most).contains(number));
    number.ok_or_else(|| Error::field(name, format!("Use a whole number from 1 to {most}.")))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "01ARZ3NDEKTSV4RRFFQ69G5FAV";

    pub(super) fn parse(query: &str) -> Result<ListQuery> {
        ListQuery::parse(Uri::new("http://x/y/".to_owned()), Some(query))
    }

    #[test]
    fn page_numbers_are_checked() {
        for good in ["", "page=3", "page_size=100", "page=1&page_size=1&other=x"] {
            assert!(parse(good).is_ok(), "{good}");
        }
        for bad in [
            "page=0",
            "page=-1",
            "page=x",
            "page=",
            "page_size=0",
            "page_size=101",
            "page=1.5",
            "page=%2B2",
            "cursor=x",
        ] {
            assert!(parse(bad).is_err(), "{bad}");
        }
        let third = parse("page=3&page_size=10").unwrap();
        assert!(third.check_range(21).is_ok() && third.check_range(20).is_err());
        assert!(parse("").unwrap().check_range(0).is_ok());
    }

    #[test]
    fn links_keep_the_other_parameters() {
        let query = parse("status=new&page=3&page_size=2&q=a%26b").unwrap();
        let page = Page {
            rows: vec![1, 2],
            next: Some(PageCursor::After(ID.to_owned())),
            previous: Some(PageCursor::Before(ID.to_owned())),
        };
        let answer = serde_json::to_value(query.answer(page, 9).unwrap()).unwrap();
        let next = answer["meta"]["next"].as_str().unwrap();
        assert!(next.starts_with("http://x/y/?status=new&q=a%26b&page=4&page_size=2&cursor="), "{next}");
        assert!(answer["meta"]["previous"].as_str().unwrap().contains("&page=2&page_size=2&cursor="));
        assert_eq!(answer["meta"]["total_count"], 9);
    }
}

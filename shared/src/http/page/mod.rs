//! Lists: the query with which clients ask for a page, pages of lists in memory, and the view of a page.

mod budget;
pub(super) mod cursor;
mod slice;
mod view;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use serde::Serialize;

pub use budget::ResponseBudget;
pub use view::PageView;

use super::query::QueryParameters;
use super::wire::Uri;
use crate::app::App;
use crate::error::{Error, Result};
use crate::store::page::{Page, PageRequest};

/// The number of rows per page if the client sends no `page_size`.
pub(crate) const DEFAULT_SIZE: u32 = 20;
pub(crate) const MAX_SIZE: u32 = 100;

/// A request for a page of a list. As an argument of a handler, it accepts no filters; handlers with filters make it
/// from [`QueryParameters`].
#[derive(Debug)]
pub struct ListQuery {
    pub(super) page: PageRequest,
    pub(super) parameters: QueryParameters,
}

impl FromRequestParts<App> for ListQuery {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self> {
        QueryParameters::from_request_parts(parts, app).await?.finish_list()
    }
}

impl QueryParameters {
    /// Reads `page_size`, the maximum number of rows in a page.
    pub fn page_size(&mut self) -> u32 {
        let size = self.whole_number("page_size", DEFAULT_SIZE.into(), MAX_SIZE.into());
        u32::try_from(size).unwrap_or(MAX_SIZE)
    }

    /// Reads `page`, `page_size` and `cursor`, then returns all errors as [`finish`](Self::finish) does.
    pub fn finish_list(mut self) -> Result<ListQuery> {
        let (cursor, of_cursor) = self.unique_filter("cursor", cursor::decode).unzip();
        let number = self.whole_number("page", of_cursor.flatten().unwrap_or(1), u64::MAX);
        let size = self.page_size();
        self.finish()?;
        Ok(ListQuery { page: PageRequest { number, size, cursor }, parameters: self })
    }
}

impl ListQuery {
    pub fn page(&self) -> &PageRequest {
        &self.page
    }

    /// Returns the number of rows before the page.
    pub fn rows_before(&self) -> u64 {
        (self.page.number - 1).saturating_mul(u64::from(self.page.size))
    }

    /// Refuses a page number past the end of a list of `total` rows. Never refuses a cursor, so links keep working after deletions.
    pub fn check_range(&self, total: u64) -> Result<()> {
        let is_by_number = self.page.cursor.is_none() && self.page.number > 1;
        if is_by_number && self.rows_before() >= total {
            return Err(Error::field("page", format!("The list ends before page {}.", self.page.number)));
        }
        Ok(())
    }

    /// Returns the view of `page`, of a list with `total` rows. Rows that do not fit in one response move to the next page.
    pub fn answer<T: Serialize>(&self, page: Page<T>, total: u64) -> Result<PageView<T>> {
        self.check_range(total)?;
        PageView::new(self, page, total)
    }

    fn link(&self, number: u64, cursor: String) -> Uri {
        self.parameters.link_to([
            ("page", number.to_string()),
            ("page_size", self.page.size.to_string()),
            ("cursor", cursor),
        ])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::page::PageCursor;

    const ID: &str = "01ARZ3NDEKTSV4RRFFQ69G5FAV";

    pub(super) fn parse(query: &str) -> Result<ListQuery> {
        let mut parameters = QueryParameters::parse(Uri::new("http://x/y/".to_owned()), Some(query));
        for name in ["status", "q"] {
            parameters.filter(name, |text| Ok(text.to_owned()));
        }
        parameters.finish_list()
    }

    #[test]
    fn page_numbers_are_checked() {
        for good in ["", "page=3", "page_size=100", "page=1&page_size=1&status=x"] {
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
            "other=x",
            "page=1&page=1",
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
        let meta = serde_json::to_value(query.answer(page, 9).unwrap().meta).unwrap();
        let next = meta["next"].as_str().unwrap();
        assert!(next.starts_with("http://x/y/?status=new&q=a%26b&page=4&page_size=2&cursor="), "{next}");
        assert!(meta["previous"].as_str().unwrap().contains("&page=2&page_size=2&cursor="));
        assert_eq!(meta["total_count"], 9);
    }
}

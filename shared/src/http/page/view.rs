//! A page of a list as clients get it. It holds as many rows as fit in one response.

use std::marker::PhantomData;

use axum::response::{IntoResponse, Response};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::value::RawValue;

use super::ListQuery;
use super::budget::ResponseBudget;
use crate::error::{Error, Result};
use crate::http::exchange::respond::UriRow;
use crate::http::wire::Uri;
use crate::store::page::{Page, PageCursor};

/// A page of a list.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "ListOf{T}")]
pub struct PageView<T> {
    meta: PageMeta,
    /// The resources of this page.
    #[schemars(with = "Vec<T>")]
    objects: Vec<Box<RawValue>>,
    #[serde(skip)]
    shows: PhantomData<T>,
}

/// The position of a page in its list.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "ListMeta")]
struct PageMeta {
    /// The number of resources in the whole list.
    #[schemars(example = 1)]
    total_count: u64,
    /// The URL of the previous page; null on the first one.
    #[schemars(example = ())]
    previous: Option<Uri>,
    /// The URL of the next page; null on the last one.
    #[schemars(example = ())]
    next: Option<Uri>,
}

impl<T: Serialize> PageView<T> {
    pub(super) fn new(query: &ListQuery, page: Page<T>, total: u64) -> Result<Self> {
        // Written before the links: the sizes of the rows decide which row is the last.
        let rows: Result<Vec<_>, _> = page.rows.iter().map(serde_json::value::to_raw_value).collect();
        let Page { rows: _, mut next, mut previous } = page;
        let mut objects = rows.map_err(Error::internal)?;
        let is_backwards = matches!(query.page.cursor, Some(PageCursor::Before(_)));
        if is_backwards {
            objects.reverse();
        }
        // Fewer rows instead of an error: clients follow links anyway, and would otherwise search for a size that fits.
        let fitting = count_fitting(&objects)?;
        let is_cut = fitting < objects.len();
        objects.truncate(fitting);
        let outermost = objects.last().filter(|_| is_cut).and_then(|row| id_of(row));
        if is_backwards {
            objects.reverse();
            previous = outermost.map(PageCursor::Before).or(previous);
        } else {
            next = outermost.map(PageCursor::After).or(next);
        }
        let number = query.page.number;
        let meta = PageMeta {
            total_count: total,
            // With a cursor the number is informational: rows may have gone from, or come to, the pages before.
            previous: previous.map(|cursor| query.link((number - 1).max(1), &cursor)),
            next: next.map(|cursor| query.link(number.saturating_add(1), &cursor)),
        };
        Ok(Self { meta, objects, shows: PhantomData })
    }
}

impl<T: Serialize> IntoResponse for PageView<T> {
    fn into_response(self) -> Response {
        axum::Json(self).into_response()
    }
}

/// The number of rows that fit in a response, at least one.
fn count_fitting(rows: &[Box<RawValue>]) -> Result<usize> {
    let mut budget = ResponseBudget::default();
    for (index, row) in rows.iter().enumerate() {
        if !budget.fits(row)? {
            return Ok(index);
        }
    }
    Ok(rows.len())
}

/// The identifier that a list is ordered by; the URL of each of its resources ends with it.
fn id_of(row: &RawValue) -> Option<String> {
    let UriRow { resource_uri } = serde_json::from_str(row.get()).ok()?;
    resource_uri.trim_end_matches('/').rsplit('/').next().map(str::to_owned)
}

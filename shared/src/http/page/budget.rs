//! Limits a response to the size that Lambda allows.

use std::io::{self, Write};

use serde::Serialize;

use crate::error::{Error, Result};

/// The maximum size in bytes of a view within a function's response, which Lambda limits to 6 MB.
// The rest of the 6 MB is for headers, links and the brackets around the rows.
pub(super) const MAX_BYTES: usize = 5_500_000;

/// Counts how many bytes are left in a function's response.
#[derive(Debug)]
pub struct ResponseBudget {
    left: usize,
    has_rows: bool,
}

impl Default for ResponseBudget {
    /// The budget of an empty response.
    fn default() -> Self {
        Self { left: MAX_BYTES, has_rows: false }
    }
}

impl ResponseBudget {
    /// Counts a part that the response contains in any case.
    pub fn spend(&mut self, part: &impl Serialize) -> Result<()> {
        self.left = self.left.saturating_sub(bytes_of(part)?);
        Ok(())
    }

    /// Counts a row and returns whether it fits. The first row always fits, so that every page makes progress.
    pub fn fits(&mut self, row: &impl Serialize) -> Result<bool> {
        Ok(self.fits_bytes(bytes_of(row)?))
    }

    /// Like [`fits`](Self::fits), for a row that is already JSON.
    pub(super) fn fits_json(&mut self, row: &[u8]) -> bool {
        self.fits_bytes(escaped_length(row))
    }

    fn fits_bytes(&mut self, bytes: usize) -> bool {
        let left = self.left.checked_sub(bytes);
        let fits = left.is_some() || !self.has_rows;
        self.has_rows = true;
        self.left = left.unwrap_or_default();
        fits
    }
}

/// The size of a view in a function's response.
fn bytes_of(view: &impl Serialize) -> Result<usize> {
    let mut count = ByteCount::default();
    serde_json::to_writer(&mut count, view).map_err(Error::internal)?;
    Ok(count.0)
}

/// The size of this JSON in a function's response.
fn escaped_length(json: &[u8]) -> usize {
    // The function's response contains the body as a JSON string, which escapes quotation marks and backslashes with a second byte.
    json.len() + json.iter().filter(|byte| matches!(byte, b'"' | b'\\')).count()
}

/// A writer that only counts the bytes of JSON.
#[derive(Default)]
struct ByteCount(usize);

impl Write for ByteCount {
    fn write(&mut self, json: &[u8]) -> io::Result<usize> {
        self.0 += escaped_length(json);
        Ok(json.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_view_is_counted_as_a_string_in_the_response_of_a_function() {
        for view in [json!({ "a": 1, "b": "\"\\\n\u{1}😀" }), json!(["x", null, true])] {
            let string = serde_json::to_string(&view.to_string()).unwrap();
            assert_eq!(bytes_of(&view).unwrap(), string.len() - 2, "{view}");
        }
    }

    #[test]
    fn rows_fit_until_the_response_is_full_and_the_first_in_any_case() {
        let row = "x".repeat(MAX_BYTES / 2 - 4);
        let mut budget = ResponseBudget::default();
        assert_eq!([(); 3].map(|()| budget.fits(&row).unwrap()), [true, true, false]);
        let mut budget = ResponseBudget::default();
        budget.spend(&"x".repeat(10)).unwrap();
        assert_eq!([(); 2].map(|()| budget.fits(&row).unwrap()), [true, false]);
        let mut budget = ResponseBudget::default();
        budget.spend(&"x".repeat(MAX_BYTES)).unwrap();
        assert_eq!([(); 2].map(|()| budget.fits(&row).unwrap()), [true, false]);
    }
}

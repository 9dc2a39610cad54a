//! Encodes and decodes the cursors that clients get and send.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use crate::domain::id::Id;
use crate::domain::privacy::legal::LegalTextId;
use crate::store::page::PageCursor;

/// The cursor in a link; the link has the page's number as a separate parameter.
// The number is not in the cursor, because during a deployment the previous release, which cannot parse it, gets such links too.
pub(super) fn encode(cursor: &PageCursor) -> String {
    URL_SAFE_NO_PAD.encode(written(cursor))
}

/// A cursor that contains the page's number, for clients that send the cursor without `page`: some lists need the
/// number to find the page.
pub(super) fn encode_alone(cursor: &PageCursor, number: u64) -> String {
    URL_SAFE_NO_PAD.encode(format!("{}.{number}", written(cursor)))
}

fn written(cursor: &PageCursor) -> String {
    match cursor {
        PageCursor::After(id) => format!("a{id}"),
        PageCursor::Before(id) => format!("b{id}"),
    }
}

/// Returns the cursor and its page's number, which cursors of links lack.
pub(in crate::http) fn decode(text: &str) -> Result<(PageCursor, Option<u64>), String> {
    read(text).ok_or_else(|| "Invalid cursor. Follow `next` and `previous` unchanged.".to_owned())
}

fn read(text: &str) -> Option<(PageCursor, Option<u64>)> {
    let decoded = String::from_utf8(URL_SAFE_NO_PAD.decode(text).ok()?).ok()?;
    let (place, rest) = decoded.split_at_checked(1)?;
    let (id, number) = match rest.split_once('.') {
        Some((id, number)) => (id, Some(number.parse().ok().filter(|number| *number > 0)?)),
        None => (rest, None),
    };
    // Cursors need no signature: a forged cursor can only name another row of the same list.
    let is_id = id.parse::<Id<()>>().is_ok() || id.parse::<LegalTextId>().is_ok();
    is_id.then_some(())?;
    let cursor = match place {
        "a" => PageCursor::After(id.to_owned()),
        "b" => PageCursor::Before(id.to_owned()),
        _ => return None,
    };
    Some((cursor, number))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "01ARZ3NDEKTSV4RRFFQ69G5FAV";

    #[test]
    fn cursors_survive_the_way_to_the_client_and_nothing_else_passes_for_one() {
        for cursor in [ID, "consent-3"]
            .map(str::to_owned)
            .into_iter()
            .flat_map(|id| [PageCursor::After(id.clone()), PageCursor::Before(id)])
        {
            assert_eq!(decode(&encode_alone(&cursor, 7)), Ok((cursor, Some(7))));
        }
        let of_link = PageCursor::After(ID.to_owned());
        assert_eq!(decode(&encode(&of_link)), Ok((of_link, None)));
        for other in
            ["aTALLY#0", &format!("c{ID}.1"), &format!("a{ID}."), &format!("a{ID}.0"), &format!("a{ID}.-1")]
        {
            assert!(decode(&URL_SAFE_NO_PAD.encode(other)).is_err(), "{other}");
        }
        for other in ["", "a", "!!"] {
            assert!(decode(other).is_err(), "{other}");
        }
    }
}

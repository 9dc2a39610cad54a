use super::MAX_PROFILE;

const SIGNATURE: usize = 8;
/// The size of a chunk's length, and of its type, which both precede the data. A checksum follows the data.
const LENGTH: usize = 4;
const AROUND: usize = 12;
const END: &[u8] = b"\0\0\0\0IEND\xAE\x42\x60\x82";

/// A PNG reduced to critical chunks, transparency, orientation and a short colour profile.
pub(super) fn essential(png: &[u8]) -> Vec<u8> {
    let (signature, mut rest) = png.split_at(SIGNATURE.min(png.len()));
    let mut kept = signature.to_vec();
    while let Some((chunk, next)) = split_chunk(rest) {
        // Other chunks may unpack to a thousand times their size.
        if is_essential(chunk) {
            kept.extend_from_slice(chunk);
        }
        rest = next;
    }
    // Viewers show a PNG without its end chunk, so complete it: the decoder then refuses it only if pixels are missing.
    // A second end chunk changes nothing. Leave any other truncated chunk for the decoder to refuse.
    kept.extend_from_slice(if END.starts_with(rest) { END } else { rest });
    kept
}

fn split_chunk(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let length = u32::from_be_bytes(bytes.get(..LENGTH)?.try_into().ok()?);
    bytes.split_at_checked(AROUND.checked_add(usize::try_from(length).ok()?)?)
}

fn is_essential(chunk: &[u8]) -> bool {
    match &chunk[LENGTH..2 * LENGTH] {
        b"tRNS" | b"eXIf" => true,
        b"iCCP" => chunk.len() <= MAX_PROFILE,
        // The names of critical chunks begin with a capital.
        name => name[0].is_ascii_uppercase(),
    }
}

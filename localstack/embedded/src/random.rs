//! Random identifiers.

use shared::clock::SystemEntropy;
use shared::domain::random::RandomSource;

/// 32 random hexadecimal digits.
pub(crate) fn hex() -> String {
    format!("{:032x}", number())
}

/// A random identifier in the form of a UUID.
pub(crate) fn uuid() -> String {
    uuid_of(number())
}

/// Formats `number` as a UUID.
pub(crate) fn uuid_of(number: u128) -> String {
    let hex = format!("{number:032x}");
    format!("{}-{}-{}-{}-{}", &hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..])
}

fn number() -> u128 {
    let mut bytes = [0; 16];
    SystemEntropy.fill(&mut bytes);
    u128::from_be_bytes(bytes)
}

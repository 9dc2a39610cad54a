//! Names that nobody else chooses.

use shared::clock::{Entropy, SystemEntropy};

/// 32 random hexadecimal digits.
pub(crate) fn hex() -> String {
    let mut bytes = [0; 16];
    SystemEntropy.fill(&mut bytes);
    format!("{:032x}", u128::from_be_bytes(bytes))
}

/// An identifier in the form of a UUID.
pub(crate) fn uuid() -> String {
    let hex = hex();
    format!("{}-{}-{}-{}-{}", &hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..])
}

//! Chance, and what it does to an input.

/// Numbers at which lengths and counts go wrong.
const NUMBERS: [u32; 10] = [0, 1, 0x7F, 0x80, 0xFF, 0x7FFF, 0xFFFF, 0x7FFF_FFFF, 0x8000_0000, 0xFFFF_FFFF];
/// Texts that parsers treat as special.
const TEXTS: [&str; 20] = [
    "\"", "\\", "%", "%00", "\0", "\r\n", "\r\n\r\n", "--", "../", "/", "=", "&", ";", "base64,", "ö",
    "\u{202e}", "\u{feff}", "{}", "[]", "null",
];
/// The longest input.
const MAX_LENGTH: usize = 64 * 1024;

/// A sequence of numbers that follows from a seed (SplitMix64).
pub(crate) struct Chance(u64);

impl Chance {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// A number below `limit`, which is not zero.
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((mixed ^ (mixed >> 31)) % limit as u64) as usize
    }

    /// One input of the corpus, changed in one to eight places.
    pub(crate) fn mutated(&mut self, corpus: &[Vec<u8>]) -> Vec<u8> {
        let mut input = corpus[self.below(corpus.len())].clone();
        for _ in 0..=self.below(8) {
            let other = &corpus[self.below(corpus.len())];
            self.change(&mut input, other);
        }
        input.truncate(MAX_LENGTH);
        input
    }

    fn change(&mut self, input: &mut Vec<u8>, other: &[u8]) {
        let at = self.below(input.len() + 1);
        let end = (at + 1 + self.below(16)).min(input.len());
        match self.below(9) {
            0 if at < input.len() => input[at] ^= 1 << self.below(8),
            1 if at < input.len() => input[at] = self.below(256) as u8,
            2 => drop(input.drain(at.min(end)..end)),
            3 => input.truncate(at),
            4 => {
                let repeated = input[at.min(end)..end].repeat(1 + self.below(64));
                input.splice(at..at, repeated);
            }
            5 => {
                let text = TEXTS[self.below(TEXTS.len())];
                input.splice(at..at, text.bytes());
            }
            6 => {
                let number = NUMBERS[self.below(NUMBERS.len())];
                let width = [1, 2, 4][self.below(3)];
                let bytes = if self.below(2) == 0 { number.to_be_bytes() } else { number.to_le_bytes() };
                let bytes = if self.below(2) == 0 { &bytes[..width] } else { &bytes[4 - width..] };
                let end = (at + width).min(input.len());
                input.splice(at..end, bytes.iter().copied());
            }
            7 if !other.is_empty() => {
                let from = self.below(other.len());
                let to = (from + self.below(256)).min(other.len());
                input.splice(at..end.max(at), other[from..to].iter().copied());
            }
            _ => input.insert(at, self.below(256) as u8),
        }
    }
}

//! Randomness, which rules take as an argument.

/// A source of random bytes.
pub trait RandomSource: Send + Sync + 'static {
    /// Fills `bytes` with unpredictable bytes.
    ///
    /// # Panics
    /// If the source fails: nothing that needs secrets may continue.
    fn fill(&self, bytes: &mut [u8]);
}

//! How many cases of the longest tests run: a random part for a change, or all with `TEST_EFFORT=full`.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::LazyLock;

use shared::clock::SystemEntropy;
use shared::domain::random::RandomSource as _;

/// For a change, one of this many cases runs.
const SHARE: usize = 3;

static EFFORT: LazyLock<TestEffort> = LazyLock::new(TestEffort::from_environment);

#[derive(Debug, Clone, Copy)]
enum TestEffort {
    Full,
    Change { seed: u64 },
}

impl TestEffort {
    fn from_environment() -> Self {
        match std::env::var_os("TEST_EFFORT") {
            Some(effort) if effort == "full" => Self::Full,
            // A misspelt `full` would skip most cases before a release.
            Some(effort) if !effort.is_empty() => {
                panic!("TEST_EFFORT is {}, neither full nor empty", effort.display())
            }
            _ => Self::Change { seed: seed() },
        }
    }

    /// The first case that runs, and the distance between cases: `step` for a change.
    fn start_and_step(self, step: usize) -> (usize, usize) {
        let Self::Change { seed } = self else { return (0, 1) };
        // Hash the test's name too, so that the choice does not depend on the other tests of the process.
        let mut hasher = DefaultHasher::new();
        (seed, std::thread::current().name()).hash(&mut hasher);
        // The test runner shows this if the test fails.
        eprintln!("1 case of {step}; TEST_SEED={seed} repeats the choice, TEST_EFFORT=full tries all");
        (hasher.finish() as usize % step, step)
    }
}

/// `TEST_SEED`, or a random seed.
fn seed() -> u64 {
    if let Some(seed) = std::env::var_os("TEST_SEED") {
        let number = seed.to_str().and_then(|seed| seed.parse().ok());
        return number.unwrap_or_else(|| panic!("TEST_SEED is {}, not a number", seed.display()));
    }
    let mut bytes = [0; 4];
    SystemEntropy.fill(&mut bytes);
    u32::from_be_bytes(bytes).into()
}

/// Whether all cases run.
pub fn is_full() -> bool {
    matches!(*EFFORT, TestEffort::Full)
}

/// The cases among 0, 1, 2 … that run: every `step`th for a change. For tests that find the last case themselves, such
/// as those that stop a program after a number of writes.
pub fn numbers(step: usize) -> impl Iterator<Item = usize> {
    let (start, step) = EFFORT.start_and_step(step);
    (start..).step_by(step)
}

/// The cases of `all` that run: a third for a change, but at least one.
pub fn cases<T>(all: impl IntoIterator<Item = T>) -> Vec<T> {
    let all: Vec<T> = all.into_iter().collect();
    let (start, step) = EFFORT.start_and_step(SHARE);
    let start = start.min(all.len().saturating_sub(1));
    all.into_iter().skip(start).step_by(step).collect()
}

/// How many of `all` random cases run: a third for a change.
pub fn count(all: u32) -> u32 {
    match *EFFORT {
        TestEffort::Full => all,
        TestEffort::Change { .. } => all.div_ceil(SHARE as u32),
    }
}

/// A bound on the number of cases that a test runs: `full` for all, `change` for a change.
pub fn bound<T>(full: T, change: T) -> T {
    match *EFFORT {
        TestEffort::Full => full,
        TestEffort::Change { .. } => change,
    }
}

/// Random numbers, reproducible with `TEST_SEED`.
pub struct Chance(u64);

impl Chance {
    #[expect(clippy::new_without_default, reason = "no two are alike")]
    pub fn new() -> Self {
        let seed = seed();
        // The test runner shows this if the test fails.
        eprintln!("TEST_SEED={seed} repeats the choice");
        Self(seed)
    }

    /// A number below `end`.
    pub fn below(&mut self, end: usize) -> usize {
        // SplitMix64.
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) as usize % end
    }
}

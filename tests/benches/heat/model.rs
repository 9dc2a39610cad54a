//! Spreads requests over companies and projects, and their units over partitions.

use std::collections::{BTreeMap, HashMap};
use std::hash::{DefaultHasher, Hash, Hasher};

use tests::heat::{MOST_READS, MOST_WRITES};
use tests::meter::Place;

use crate::requests::{Operation, Sample};

/// The simulated time.
const SECONDS: u32 = 30;
const COMPANIES: usize = 1_000;
/// Projects in use per company.
const PROJECTS: usize = 50;
/// Longer parts of partition keys are identifiers or hashes, which no two requests share.
const IDENTIFIER: usize = 20;

/// The number of hashes of partition keys.
const HASHES: u128 = 1 << 64;
/// A range of hashes that holds one key.
const SMALLEST: u128 = 1 << 40;

/// The identifiers that sampled requests are about.
pub(crate) struct Sampled<'a> {
    pub(crate) company: &'a str,
    pub(crate) project: &'a str,
}

/// Units per second under one partition key, in the mean and within the busiest second.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Units {
    pub(crate) reads: f64,
    pub(crate) writes: f64,
}

impl Units {
    fn add(&mut self, other: Self) {
        self.reads += other.reads;
        self.writes += other.writes;
    }

    /// The share of what a partition takes: reads and writes together.
    pub(crate) fn share(self) -> f64 {
        self.reads / MOST_READS + self.writes / MOST_WRITES
    }

    fn times(self, factor: f64) -> Self {
        Self { reads: self.reads * factor, writes: self.writes * factor }
    }
}

/// One partition key that several requests share.
#[derive(Debug, Clone)]
pub(crate) struct Key {
    /// The form of the key, without the company and the project.
    pub(crate) pattern: String,
    hash: u64,
    second: u32,
    now: Units,
    total: Units,
    /// The busiest second.
    pub(crate) peak: Units,
}

impl Key {
    pub(crate) fn mean(&self) -> Units {
        self.total.times(1.0 / f64::from(SECONDS))
    }

    fn add(&mut self, second: u32, units: Units) {
        if self.second != second {
            (self.second, self.now) = (second, Units::default());
        }
        self.now.add(units);
        self.total.add(units);
        if self.now.share() > self.peak.share() {
            self.peak = self.now;
        }
    }
}

/// The units of the table or an index.
#[derive(Debug, Default)]
pub(crate) struct Schema {
    pub(crate) keys: HashMap<String, Key>,
    /// Units under partition keys of single requests, which are spread evenly.
    spread: Units,
}

/// Sends `rate` requests a second.
pub(crate) fn simulate(
    samples: &[(Operation, f64, Vec<Sample>)],
    sampled: &Sampled<'_>,
    rate: u32,
) -> BTreeMap<&'static str, Schema> {
    let mut chance = Chance(1);
    let (companies, projects) = (Ranks::new(COMPANIES), Ranks::new(PROJECTS));
    let operations = Ranks::weighted(samples.iter().map(|(_, share, _)| *share));
    let mut schemas = BTreeMap::<&'static str, Schema>::new();
    for second in 0..SECONDS {
        for _ in 0..rate {
            let (_, _, samples) = &samples[operations.pick(&mut chance)];
            let sample = &samples[chance.below(samples.len())];
            let (company, project) = (companies.pick(&mut chance), projects.pick(&mut chance));
            for load in &sample.loads {
                let schema = schemas.entry(load.place.schema).or_default();
                let units = Units { reads: load.reads, writes: load.writes };
                match renamed(&load.place, sampled, company, project) {
                    Some((key, pattern)) => schema.key(key, pattern).add(second, units),
                    None => schema.spread.add(units),
                }
            }
        }
    }
    schemas
}

/// The partition key for another company and project, and its pattern; none if no two requests share it.
fn renamed(place: &Place, sampled: &Sampled<'_>, company: usize, project: usize) -> Option<(String, String)> {
    let (mut key, mut pattern) = (String::new(), String::new());
    for part in place.key.split('#') {
        let (name, kind) = match part {
            part if part == sampled.company => (format!("c{company}"), "c"),
            part if part == sampled.project => (format!("p{project}"), "p"),
            part if part.len() >= IDENTIFIER => return None,
            part => (part.to_owned(), part),
        };
        let separator = if key.is_empty() { "" } else { "#" };
        key.extend([separator, &name]);
        pattern.extend([separator, kind]);
    }
    Some((key, pattern))
}

impl Schema {
    fn key(&mut self, key: String, pattern: String) -> &mut Key {
        let mut hasher = DefaultHasher::new();
        key.hash(&mut hasher);
        let hash = hasher.finish();
        let (second, none) = (0, Units::default());
        self.keys.entry(key).or_insert(Key { pattern, hash, second, now: none, total: none, peak: none })
    }

    /// All units per second.
    pub(crate) fn units(&self) -> Units {
        let mut all = self.spread.times(1.0 / f64::from(SECONDS));
        self.keys.values().for_each(|key| all.add(key.mean()));
        all
    }

    /// The hottest key of each pattern, the hottest first.
    pub(crate) fn hottest(&self) -> Vec<&Key> {
        let mut hottest = BTreeMap::<&str, &Key>::new();
        for key in self.keys.values() {
            let most = hottest.entry(&key.pattern).or_insert(key);
            if key.mean().share() > most.mean().share() {
                *most = key;
            }
        }
        let mut hottest: Vec<&Key> = hottest.into_values().collect();
        hottest.sort_by(|one, other| other.mean().share().total_cmp(&one.mean().share()));
        hottest
    }

    /// The share of each of `count` partitions, equal ranges of the hashes of keys, the hottest first.
    pub(crate) fn partitions(&self, count: usize) -> Vec<f64> {
        let even = self.spread.times(1.0 / f64::from(SECONDS)).share() / count as f64;
        let mut shares = vec![even; count];
        for key in self.keys.values() {
            shares[((u128::from(key.hash) * count as u128) >> 64) as usize] += key.mean().share();
        }
        shares.sort_by(|one, other| other.total_cmp(one));
        shares
    }

    /// The number of partitions once DynamoDB has split those that are full, and the share of the hottest. It begins with
    /// `count` equal ranges of hashes, and halves a range that is full unless it has become too small to hold two keys.
    pub(crate) fn split(&self, count: usize) -> (usize, f64) {
        let spread = self.spread.times(1.0 / f64::from(SECONDS)).share();
        let mut keys: Vec<_> =
            self.keys.values().map(|key| (u128::from(key.hash), key.mean().share())).collect();
        keys.sort_by_key(|(hash, _)| *hash);
        let width = HASHES / count as u128;
        let mut ranges: Vec<_> = (0..count as u128).map(|number| (number * width, width)).collect();
        let (mut partitions, mut hottest) = (0, 0.0_f64);
        while let Some((from, width)) = ranges.pop() {
            let within = keys.iter().skip_while(|(hash, _)| *hash < from);
            let within = within.take_while(|(hash, _)| *hash < from + width).map(|(_, share)| share);
            let share = within.sum::<f64>() + spread * width as f64 / HASHES as f64;
            if share > 1.0 && width > SMALLEST {
                ranges.extend([(from, width / 2), (from + width / 2, width / 2)]);
            } else {
                partitions += 1;
                hottest = hottest.max(share);
            }
        }
        (partitions, hottest)
    }
}

/// Ranks by popularity.
struct Ranks(Vec<f64>);

impl Ranks {
    /// By Zipf's law: the second is half as popular as the first.
    fn new(count: usize) -> Self {
        Self::weighted((1..=count).map(|rank| 1.0 / rank as f64))
    }

    fn weighted(weights: impl Iterator<Item = f64>) -> Self {
        let mut sum = 0.0;
        Self(
            weights
                .map(|weight| {
                    sum += weight;
                    sum
                })
                .collect(),
        )
    }

    fn pick(&self, chance: &mut Chance) -> usize {
        let all = self.0.last().copied().unwrap_or_default();
        let at = chance.next() * all;
        self.0.partition_point(|sum| *sum <= at).min(self.0.len() - 1)
    }
}

/// Numbers that are the same in every run: SplitMix64.
struct Chance(u64);

impl Chance {
    /// From 0 to 1.
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn below(&mut self, count: usize) -> usize {
        ((self.next() * count as f64) as usize).min(count - 1)
    }
}

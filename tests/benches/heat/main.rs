//! Measures the load of 2,000 requests a second of 1,000 companies with 10 million candidates: the hottest partition keys, the
//! partitions that they need, and the quotas of AWS. The units are those of real requests; a model spreads them.
//!
//! `tests/bench heat [RATE]` assumes another number of requests a second.
#![recursion_limit = "256"]
mod model;
mod requests;

use std::collections::{BTreeMap, HashSet};
use std::error::Error;

use model::{Sampled, Schema, simulate};
use requests::{MIX, Operation, Sample, World};
use serde_json::json;
use tests::caller::last_segment;
use tests::figures::{print, print_value, round};
use tests::meter::Load;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

const CANDIDATES: f64 = 10_000_000.0;
/// DynamoDB splits partitions that become larger.
const PARTITION_BYTES: f64 = 10e9;
/// The partitions of a new table and of a new index on demand: 4,000 write units and 12,000 read units a second.
const NEW_PARTITIONS: usize = 4;

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() -> Result<()> {
    // Cargo adds --bench.
    let rate = std::env::args().find_map(|argument| argument.parse().ok()).unwrap_or(2_000_u32);
    let world = World::new().await?;
    let (sizes, items) = world.sizes().await?;
    print_value("items_per_candidate", round(items));
    let mut samples = Vec::new();
    for (operation, share) in MIX {
        let own = world.samples(operation).await?;
        let units = |of: fn(&Load) -> f64| round(mean(&own, |sample| sample.loads.iter().map(of).sum()));
        print(&json!({
            "operation": format!("{operation:?}"), "of_1000": share, "read_units": units(|load| load.reads),
            "write_units": units(|load| load.writes), "seconds": round(mean(&own, |sample| sample.seconds)),
            "outbox_seconds": round(mean(&own, |sample| sample.outbox_seconds)),
        }));
        samples.push((operation, share, own));
    }
    let sampled = Sampled { company: "acme", project: last_segment(&world.project) };
    let schemas = simulate(&samples, &sampled, rate);
    for (schema, bytes) in sizes {
        if let Some(load) = schemas.get(schema) {
            partitions(schema, load, bytes);
        }
    }
    keys(&schemas, rate);
    quotas(&samples, &schemas, rate);
    Ok(())
}

/// Prints how many partitions the size of a schema leads to, and how full they are.
fn partitions(schema: &str, load: &Schema, bytes_per_candidate: f64) {
    let by_size = (bytes_per_candidate * CANDIDATES / PARTITION_BYTES).ceil() as usize;
    let count = by_size.max(NEW_PARTITIONS);
    let shares = load.partitions(count);
    let units = load.units();
    let (after_splits, hottest) = load.split(count);
    print(&json!({
        "schema": schema, "bytes_per_candidate": round(bytes_per_candidate),
        "read_units_a_second": round(units.reads), "write_units_a_second": round(units.writes),
        "partitions": count, "hottest_partition": round(shares[0]), "mean_partition": round(units.share() / count as f64),
        "after_splits": after_splits, "hottest_after_splits": round(hottest),
    }));
}

/// Prints the hottest partition key of each pattern.
fn keys(schemas: &BTreeMap<&str, Schema>, rate: u32) {
    let all =
        schemas.iter().flat_map(|(schema, load)| load.hottest().into_iter().map(move |key| (*schema, key)));
    let mut all: Vec<_> = all.collect();
    all.sort_by(|(_, one), (_, other)| other.mean().share().total_cmp(&one.mean().share()));
    for (schema, key) in all.into_iter().take(14) {
        let mean = key.mean();
        print(&json!({
            "schema": schema, "hottest_key": key.pattern, "read_units_a_second": round(mean.reads),
            "write_units_a_second": round(mean.writes), "share_of_a_partition": round(mean.share()),
            "busiest_second": round(key.peak.share()),
            "full_at_requests_a_second": (f64::from(rate) / mean.share()).round(),
        }));
    }
}

/// Prints what is used of quotas, the first to be full first.
fn quotas(samples: &[(Operation, f64, Vec<Sample>)], schemas: &BTreeMap<&str, Schema>, rate: u32) {
    let rate = f64::from(rate);
    let each = |of: &dyn Fn(&Sample) -> f64| -> f64 {
        samples.iter().map(|(_, share, own)| rate * share / 1000.0 * mean(own, of)).sum()
    };
    let share =
        |operation| MIX.iter().find(|(one, _)| *one == operation).map_or(0.0, |(_, share)| share / 1000.0);
    let most = MIX.iter().map(|(_, share)| share / 1000.0).fold(0.0, f64::max);
    // An effect is written several times until it is done.
    let effects = |sample: &Sample| {
        let writes = sample.loads.iter().filter(|load| load.changes && load.place.key.starts_with("EFFECT#"));
        writes.map(|load| &load.place.key).collect::<HashSet<_>>().len() as f64
    };
    let records = each(&|sample| sample.loads.iter().filter(|load| load.changes).count() as f64);
    let table = schemas.get("table").map(Schema::units).unwrap_or_default();
    let mut quotas = vec![
        ("gateway: requests to one route (RequestsPerSecond)", rate * most, 200.0),
        ("gateway: requests to one route for credentials", rate * share(Operation::LogIn), 50.0),
        ("gateway: requests of the account", rate, 10_000.0),
        ("Lambda: concurrent requests, unoptimised", each(&|sample| sample.seconds), 1_000.0),
        (
            "Lambda: the outbox, one record after the other (OutboxConcurrency)",
            each(&|sample| sample.outbox_seconds),
            10.0,
        ),
        ("SES: mails a second, the usual first quota", each(&effects), 14.0),
        ("DynamoDB: write units of a new table", table.writes, 4_000.0),
        ("DynamoDB: read units of a new table", table.reads, 12_000.0),
        ("DynamoDB: write units of a table (account)", table.writes, 40_000.0),
        ("DynamoDB: read units of a table (account)", table.reads, 40_000.0),
        ("stream: records a second that Lambda reads of one of four shards", records / 4.0, 4_000.0),
    ];
    quotas.sort_by(|one, other| (other.1 / other.2).total_cmp(&(one.1 / one.2)));
    for (quota, value, limit) in quotas {
        print(&json!({
            "quota": quota, "value": round(value), "limit": limit,
            "full_at_requests_a_second": (rate * limit / value).round(),
        }));
    }
}

fn mean(samples: &[Sample], of: impl Fn(&Sample) -> f64) -> f64 {
    samples.iter().map(of).sum::<f64>() / samples.len() as f64
}

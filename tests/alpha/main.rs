//! Computes alphas for `tests/contract/agreement.py`, which compares them with those of others: reads lists of units in JSON, each a list
//! of values, and writes of each list the alpha of interval and of ordinal data, null if there is none.
#![expect(clippy::print_stdout, reason = "this is where the alphas go")]

use std::error::Error;
use std::io;

use shared::domain::scoring::alpha::PairableValues;

fn main() -> Result<(), Box<dyn Error>> {
    let lists: Vec<Vec<Vec<f64>>> = serde_json::from_reader(io::stdin())?;
    let alphas = lists.into_iter().map(|units| {
        let values = PairableValues::new(units);
        [values.interval_alpha(), values.ordinal_alpha()]
    });
    println!("{}", serde_json::to_string(&alphas.collect::<Vec<_>>())?);
    Ok(())
}

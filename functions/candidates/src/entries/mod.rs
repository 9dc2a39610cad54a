//! What requests about many candidates have in common: their pace, their time limit, dry runs, and how they report entries that
//! are left.

pub(crate) mod dry_run;
pub(crate) mod lanes;
pub(crate) mod report;

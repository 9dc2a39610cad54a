//! Tests of deliveries.

mod simulation;

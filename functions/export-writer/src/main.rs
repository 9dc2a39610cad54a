//! Writes the archives that owners have requested, every minute.

fn main() -> shared::LambdaResult {
    shared::event::serve(export_writer::handle)
}

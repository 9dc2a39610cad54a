//! The `export-writer` Lambda function.

fn main() -> shared::LambdaResult {
    shared::event::serve(export_writer::handle)
}

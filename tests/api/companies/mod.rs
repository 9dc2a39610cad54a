//! The company, its labels and named tokens.

mod company;
mod labels;
mod settings;
mod tokens;

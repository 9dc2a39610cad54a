//! The company, its labels and named tokens.

mod company;
mod labels;
mod languages;
mod settings;
mod tokens;

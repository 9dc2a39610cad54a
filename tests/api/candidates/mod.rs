//! Candidates, their files, status and shares.

mod crud;
mod deadline;
mod file_addresses;
mod file_histories;
mod files;
mod hostile_files;
pub(crate) mod import;
mod import_faults;
mod life;
mod list;
mod self_service;
mod shares;
mod status;
mod uploads;

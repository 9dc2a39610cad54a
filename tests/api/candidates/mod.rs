//! Candidates, their files, status and shares.

mod by_email;
mod consents;
mod crud;
mod data;
mod data_pages;
mod deadline;
mod erasure_request;
mod external_ids;
mod file_addresses;
mod file_forms;
mod file_histories;
mod file_variants;
pub(crate) mod files;
mod hold;
mod hostile_files;
pub(crate) mod import;
mod import_faults;
mod life;
mod list;
mod mails;
mod mails_off;
mod reminders;
mod self_service;
mod shares;
mod status;
mod uploads;

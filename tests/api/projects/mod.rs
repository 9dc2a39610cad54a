//! Projects, their status, roles and retention.

mod copies;
mod crud;
mod expand;
mod external_ids;
mod list;
mod references;
mod retention;
mod return_url;
mod roles;
mod statistics;
mod status;

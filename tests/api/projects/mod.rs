//! Projects, their status and roles.

mod crud;
mod expand;
mod list;
mod references;
mod roles;
mod status;

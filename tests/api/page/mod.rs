//! The page on which candidates take their interview: where links in mails lead, and the files that it loads. And files for programs.

mod accessibility;
mod served;
mod well_known;

//! Uploads, welcome videos and the queues of their conversion.

pub(super) mod conversion_queue;
pub(super) mod upload;
pub(super) mod video;

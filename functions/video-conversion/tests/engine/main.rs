//! The engine with real ffmpeg: what becomes of what people send, and of what pretends to be a video.

mod conversion;
mod hostile;
mod support;

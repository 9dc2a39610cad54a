//! The codecs that the service decodes.

/// The names of codecs, with the names of their decoders in builds of ffmpeg.
// ffmpeg has hundreds of decoders; each is code that an upload can attack.
const CODECS: &[(&str, &str)] = &[
    ("h264", "h264"),
    ("hevc", "hevc"),
    ("vp8", "vp8,libvpx"),
    ("vp9", "vp9,libvpx-vp9"),
    ("av1", "av1,libdav1d,libaom-av1"),
    ("mpeg4", "mpeg4"),
    ("mpeg1video", "mpeg1video"),
    ("mpeg2video", "mpeg2video"),
    ("h263", "h263"),
    ("flv1", "flv"),
    ("vp6", "vp6"),
    ("vp6f", "vp6f"),
    ("msmpeg4v2", "msmpeg4v2"),
    ("msmpeg4v3", "msmpeg4"),
    ("wmv1", "wmv1"),
    ("wmv2", "wmv2"),
    ("wmv3", "wmv3"),
    ("vc1", "vc1"),
    ("theora", "theora"),
    ("mjpeg", "mjpeg"),
    ("prores", "prores"),
    ("dnxhd", "dnxhd"),
    ("aac", "aac"),
    ("mp3", "mp3,mp3float"),
    ("mp2", "mp2,mp2float"),
    ("ac3", "ac3"),
    ("eac3", "eac3"),
    ("opus", "opus,libopus"),
    ("vorbis", "vorbis,libvorbis"),
    ("flac", "flac"),
    ("alac", "alac"),
    ("amr_nb", "amrnb"),
    ("amr_wb", "amrwb"),
    ("wmav1", "wmav1"),
    ("wmav2", "wmav2"),
    ("nellymoser", "nellymoser"),
    ("speex", "speex,libspeex"),
    ("adpcm_ms", "adpcm_ms"),
    ("adpcm_ima_wav", "adpcm_ima_wav"),
    ("adpcm_ima_qt", "adpcm_ima_qt"),
    ("adpcm_swf", "adpcm_swf"),
    ("pcm_s16le", "pcm_s16le"),
    ("pcm_s16be", "pcm_s16be"),
    ("pcm_s24le", "pcm_s24le"),
    ("pcm_s24be", "pcm_s24be"),
    ("pcm_s32le", "pcm_s32le"),
    ("pcm_f32le", "pcm_f32le"),
    ("pcm_u8", "pcm_u8"),
    ("pcm_s8", "pcm_s8"),
    ("pcm_alaw", "pcm_alaw"),
    ("pcm_mulaw", "pcm_mulaw"),
];

pub(super) fn is_decoded(codec: &str) -> bool {
    CODECS.iter().any(|(name, _)| *name == codec)
}

/// The decoders that may run on untrusted input, separated by commas.
pub(super) fn decoders() -> String {
    CODECS.iter().map(|(_, decoders)| *decoders).collect::<Vec<_>>().join(",")
}

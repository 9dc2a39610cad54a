//! Runs ffmpeg and ffprobe as separate programs that see only the file they work on.

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::Path;
use std::process::{ExitStatus, Stdio};

use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::process::Command;

use super::sandbox;

/// The maximum length of a program's output, in bytes.
const MAX_ANSWER: u64 = 1024 * 1024;
/// The maximum length of error messages for the log, in bytes.
const MAX_COMPLAINT: u64 = 2000;
/// The maximum number of pixels of a frame of a file that is inspected: 8K.
pub(super) const MAX_PIXELS: u32 = 36_000_000;
/// The maximum size of one allocation, in bytes.
const MAX_BLOCK: &str = "300000000";
/// The seconds of a processor after which a program is killed that copies, or looks at a few frames.
pub(super) const QUICK: u64 = 30;
/// The maximum number of streams of a file.
const MAX_STREAMS: &str = "32";

/// The accepted containers. All are self-contained: playlists, scripts and lists of files are excluded. MPEG-TS is
/// excluded because some static builds of ffprobe crash on its channel names.
const CONTAINERS: &str = "mov,matroska,avi,flv,mpeg,asf,ogg";
/// The decoders for untrusted input.
// ffmpeg has hundreds; each one more is code that an upload can attack.
const DECODERS: &str = "h264,hevc,vp8,vp9,libvpx,libvpx-vp9,av1,libdav1d,libaom-av1,mpeg4,mpeg1video,mpeg2video,\
                        h263,flv,vp6,vp6f,msmpeg4v2,msmpeg4,wmv1,wmv2,wmv3,vc1,theora,mjpeg,prores,dnxhd,\
                        aac,mp3,mp3float,mp2,mp2float,ac3,eac3,opus,libopus,vorbis,libvorbis,flac,alac,amrnb,amrwb,\
                        wmav1,wmav2,nellymoser,speex,libspeex,adpcm_ms,adpcm_ima_wav,adpcm_ima_qt,adpcm_swf,\
                        pcm_s16le,pcm_s16be,pcm_s24le,pcm_s24be,pcm_s32le,pcm_f32le,pcm_u8,pcm_s8,pcm_alaw,pcm_mulaw";

/// The programs, and where they work.
#[derive(Debug)]
pub(super) struct Tools<'a> {
    /// The folders with the programs, as in `PATH`.
    pub(super) path: &'a OsStr,
    /// A folder of its own.
    pub(super) directory: &'a Path,
    /// The largest frame that a conversion decodes, in pixels.
    pub(super) max_pixels: u32,
}

/// A program's output and exit status.
pub(super) struct ToolOutput {
    pub(super) status: ExitStatus,
    pub(super) stdout: Vec<u8>,
    pub(super) complaint: String,
}

impl Tools<'_> {
    /// ffprobe's JSON about the first `max_seconds` of a file, with its packets counted.
    pub(super) async fn probe(&self, input: &Path, what: &str, max_seconds: f64) -> io::Result<ToolOutput> {
        // A larger frame than the target allows has still to be seen, to be refused by its size.
        let mut args = reading(input, MAX_PIXELS);
        args.extend(["-count_packets", "-read_intervals"].map(OsString::from));
        args.push(format!("%+{max_seconds}").into());
        args.extend(["-show_entries", what, "-of", "json=compact=1"].map(OsString::from));
        self.run("ffprobe", args, QUICK).await
    }

    /// Runs ffmpeg on `input` with the arguments `how`, for at most `processor_seconds`.
    pub(super) async fn make(
        &self,
        input: &InputFile<'_>,
        how: &[String],
        output: &Path,
        processor_seconds: u64,
    ) -> io::Result<ToolOutput> {
        let mut args: Vec<OsString> = ["-nostdin", "-y", "-threads", "2"].map(OsString::from).into();
        args.extend(["-filter_threads", "1"].map(OsString::from));
        args.extend(input.from.iter().flat_map(|from| ["-ss".into(), from.into()]));
        args.extend(reading(input.path, self.max_pixels));
        args.extend(how.iter().map(OsString::from));
        args.push(local(output));
        self.run("ffmpeg", args, processor_seconds).await
    }

    async fn run(
        &self,
        program: &str,
        args: Vec<OsString>,
        processor_seconds: u64,
    ) -> io::Result<ToolOutput> {
        // Found beforehand: what has still to be looked up in another PATH is started by copying this process's page tables.
        let found =
            std::env::split_paths(self.path).map(|folder| folder.join(program)).find(|path| path.is_file());
        let mut command = Command::new(found.unwrap_or_else(|| program.into()));
        command.args(["-hide_banner", "-v", "error", "-max_alloc", MAX_BLOCK]).args(args);
        // No credentials and no settings.
        command.env_clear().env("PATH", self.path).current_dir(self.directory);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
        let mut child = sandbox::spawn(command, processor_seconds).await?;
        let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
        let (stdout, stderr, status) =
            tokio::try_join!(first(stdout, MAX_ANSWER), first(stderr, MAX_COMPLAINT), child.wait())?;
        Ok(ToolOutput { status, stdout, complaint: String::from_utf8_lossy(&stderr).into_owned() })
    }
}

/// A file to read, with the position to start from.
pub(super) struct InputFile<'a> {
    pub(super) path: &'a Path,
    /// In seconds.
    pub(super) from: Option<String>,
}

impl<'a> InputFile<'a> {
    /// A file from its beginning.
    pub(super) fn whole(path: &'a Path) -> Self {
        Self { path, from: None }
    }
}

/// Arguments to read a file of an accepted kind, with frames of at most so many pixels, and nothing that it refers to.
fn reading(input: &Path, max_pixels: u32) -> Vec<OsString> {
    let max_pixels = max_pixels.to_string();
    let limits = [
        ("-protocol_whitelist", "file"),
        ("-format_whitelist", CONTAINERS),
        ("-codec_whitelist", DECODERS),
        ("-max_streams", MAX_STREAMS),
        ("-max_pixels", &max_pixels),
    ];
    let mut args: Vec<OsString> =
        limits.iter().flat_map(|(name, value)| [name.into(), value.into()]).collect();
    args.extend(["-i".into(), local(input)]);
    args
}

/// A path that cannot be taken for an option or a URL.
fn local(path: &Path) -> OsString {
    let mut name = OsString::from("file:");
    name.push(path);
    name
}

/// The first `most` bytes of the output; the rest is read and dropped, so that the program can continue.
async fn first(from: Option<impl AsyncRead + Unpin>, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    if let Some(mut from) = from {
        (&mut from).take(most).read_to_end(&mut bytes).await?;
        tokio::io::copy(&mut from, &mut tokio::io::sink()).await?;
    }
    Ok(bytes)
}

//! Runs ffmpeg and ffprobe as separate programs that see only the file they work on.

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::Path;
use std::process::{ExitStatus, Stdio};

use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncReadExt as _, BufReader};
use tokio::process::Command;
use tokio::sync::OnceCell;

use super::sandbox::SandboxedProgram;
use super::{codecs, packets};

/// The maximum bytes of a program's output that are kept.
const MAX_ANSWER: usize = 1024 * 1024;
/// The maximum length of a line of a program's output, in bytes.
const MAX_LINE: u64 = 64 * 1024;
/// The maximum length of error messages for the log, in bytes.
const MAX_COMPLAINT: u64 = 2000;
/// The maximum pixels of a frame of a file that is inspected: 8K.
pub(super) const MAX_PIXELS: u32 = 36_000_000;
/// The maximum size of one allocation, in bytes.
const MAX_BLOCK: &str = "300000000";
/// The limit in processor seconds for a program that only copies or inspects a few frames.
pub(super) const QUICK: u64 = 30;
/// The maximum number of streams of a file.
const MAX_STREAMS: &str = "32";

/// The accepted containers, all self-contained: no playlists, scripts or lists of files. MPEG-TS is excluded because
/// some static builds of ffprobe crash on its channel names.
const CONTAINERS: &str = "mov,matroska,avi,flv,mpeg,asf,ogg";
/// The programs and their working folder.
#[derive(Debug)]
pub(super) struct Tools<'a> {
    /// The folders with the programs, as in `PATH`.
    pub(super) path: &'a OsStr,
    /// The working folder of the programs, for one conversion only.
    pub(super) directory: &'a Path,
    /// The largest frame that a conversion decodes, in pixels.
    pub(super) max_pixels: u32,
    /// The names of all decoders of ffprobe; listed once.
    decoders: OnceCell<String>,
}

/// A program's output and exit status.
pub(super) struct ToolOutput {
    pub(super) status: ExitStatus,
    pub(super) stdout: Vec<u8>,
    pub(super) complaint: String,
}

impl<'a> Tools<'a> {
    pub(super) fn new(path: &'a OsStr, directory: &'a Path, max_pixels: u32) -> Self {
        Self { path, directory, max_pixels, decoders: OnceCell::new() }
    }

    /// Runs ffprobe on a file. `survey` reads the packets; the result holds the rest of the JSON.
    pub(super) async fn probe(
        &self,
        input: &Path,
        entries: &str,
        survey: &mut packets::PacketSurvey,
    ) -> io::Result<ToolOutput> {
        // Inspect frames that are larger than the target allows too, so that they are refused with the right reason.
        let mut args = reading(input, MAX_PIXELS);
        let entries = format!("{entries}:{}", packets::ENTRIES);
        args.extend(["-show_entries", &entries, "-of", "json=compact=1"].map(OsString::from));
        // ffprobe opens a decoder for every stream that it lists, and fails if it may not. With the colon, the option
        // applies only to these decoders. The whitelist of `reading` still applies to the decoders that analyse the
        // file.
        let decoders = self.decoders.get_or_try_init(|| self.list_decoders()).await?;
        args.extend(["-codec_whitelist:".into(), decoders.into()]);
        self.run("ffprobe", args, QUICK, &mut |line| !survey.read(line)).await
    }

    /// The names of all decoders of ffprobe, separated by commas; empty if it prints no list.
    async fn list_decoders(&self) -> io::Result<String> {
        let list = self.run("ffprobe", vec!["-decoders".into()], QUICK, &mut |_| true).await?;
        let list = String::from_utf8_lossy(&list.stdout);
        let rows = list.lines().skip_while(|line| line.trim() != "------").skip(1);
        Ok(rows.filter_map(|row| row.split_whitespace().nth(1)).collect::<Vec<_>>().join(","))
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
        args.extend(input.from.iter().flat_map(|from| ["-ss".into(), format!("{from:.3}").into()]));
        args.extend(reading(input.path, self.max_pixels));
        args.extend(how.iter().map(OsString::from));
        args.push(local(output));
        self.run("ffmpeg", args, processor_seconds, &mut |_| true).await
    }

    /// Runs a program and keeps the output lines that `keeps` accepts.
    async fn run(
        &self,
        program: &str,
        args: Vec<OsString>,
        processor_seconds: u64,
        keeps: &mut (dyn FnMut(&[u8]) -> bool + Send),
    ) -> io::Result<ToolOutput> {
        // Find the program first: if the standard library must search another `PATH`, it forks and copies this
        // process's page tables.
        let found =
            std::env::split_paths(self.path).map(|folder| folder.join(program)).find(|path| path.is_file());
        let mut command = Command::new(found.unwrap_or_else(|| program.into()));
        command.args(["-hide_banner", "-v", "error", "-max_alloc", MAX_BLOCK]).args(args);
        // No credentials and no settings.
        command.env_clear().env("PATH", self.path).current_dir(self.directory);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
        let mut program = SandboxedProgram::start(command, processor_seconds).await?;
        let (stdout, stderr) = program.take_output();
        let (stdout, stderr, status) =
            tokio::try_join!(lines(stdout, keeps), first(stderr, MAX_COMPLAINT), program.wait())?;
        Ok(ToolOutput { status, stdout, complaint: String::from_utf8_lossy(&stderr).into_owned() })
    }
}

/// A file to read, with the position to start from.
pub(super) struct InputFile<'a> {
    pub(super) path: &'a Path,
    /// The start, in seconds after the first packet; `None` for the beginning.
    pub(super) from: Option<f64>,
}

impl<'a> InputFile<'a> {
    pub(super) fn whole(path: &'a Path) -> Self {
        Self { path, from: None }
    }
}

/// Arguments for reading a file in an accepted container, with frames of at most `max_pixels`, without opening other
/// files.
fn reading(input: &Path, max_pixels: u32) -> Vec<OsString> {
    let max_pixels = max_pixels.to_string();
    let decoders = codecs::decoders();
    let limits = [
        ("-protocol_whitelist", "file"),
        ("-format_whitelist", CONTAINERS),
        ("-codec_whitelist", &decoders),
        ("-max_streams", MAX_STREAMS),
        ("-max_pixels", &max_pixels),
    ];
    let mut args: Vec<OsString> =
        limits.iter().flat_map(|(name, value)| [name.into(), value.into()]).collect();
    args.extend(["-i".into(), local(input)]);
    args
}

/// A path that ffmpeg cannot mistake for an option or a URL.
fn local(path: &Path) -> OsString {
    let mut name = OsString::from("file:");
    name.push(path);
    name
}

/// The output lines that `keeps` accepts, up to the maximum size.
async fn lines(
    from: Option<impl AsyncRead + Unpin>,
    keeps: &mut (dyn FnMut(&[u8]) -> bool + Send),
) -> io::Result<Vec<u8>> {
    let mut kept = Vec::new();
    let mut line = Vec::new();
    let Some(from) = from else { return Ok(kept) };
    let mut from = BufReader::new(from);
    while (&mut from).take(MAX_LINE).read_until(b'\n', &mut line).await? > 0 {
        if keeps(&line) && kept.len() + line.len() <= MAX_ANSWER {
            kept.extend_from_slice(&line);
        }
        line.clear();
    }
    Ok(kept)
}

/// The first `most` bytes of the output. Reads and drops the rest, so that the program can continue.
async fn first(from: Option<impl AsyncRead + Unpin>, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    if let Some(mut from) = from {
        (&mut from).take(most).read_to_end(&mut bytes).await?;
        tokio::io::copy(&mut from, &mut tokio::io::sink()).await?;
    }
    Ok(bytes)
}

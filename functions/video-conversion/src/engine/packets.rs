//! Measures streams by their packets, because declared lengths may be missing or wrong.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer};

/// The entries of a packet that ffprobe prints.
pub(super) const ENTRIES: &str = "packet=stream_index,pts_time,dts_time,duration_time,flags";
/// The shortest distance that counts as a gap, in usual packet lengths.
// In high-efficiency AAC, some packets are twice as long as the others.
const GAP: f64 = 2.5;

#[derive(Deserialize)]
struct Packet {
    stream_index: u32,
    /// The presentation time in seconds; `dts_time` and `duration_time` are in seconds too.
    #[serde(default, deserialize_with = "number")]
    pts_time: Option<f64>,
    #[serde(default, deserialize_with = "number")]
    dts_time: Option<f64>,
    #[serde(default, deserialize_with = "number")]
    duration_time: Option<f64>,
    #[serde(default)]
    flags: String,
}

/// The packets of a file, up to a maximum time.
#[derive(Debug)]
pub(super) struct PacketSurvey {
    max_seconds: f64,
    /// When the first visible packet is shown, in seconds.
    start: Option<f64>,
    streams: BTreeMap<u32, StreamExtent>,
    /// Whether the next line of ffprobe's JSON is a packet.
    is_inside: bool,
}

/// The measured extent of a stream. Times are in seconds on the file's clock.
#[derive(Debug, Clone, Default)]
pub(super) struct StreamExtent {
    /// The number of packets: about one for each frame of a video, including hidden frames.
    pub(super) packets: f64,
    /// When the first packet is shown.
    pub(super) start: Option<f64>,
    /// When the last packet is shown.
    pub(super) last: f64,
    /// When the last packet ends.
    pub(super) end: f64,
    /// The total length of packets that an edit list hides from players.
    pub(super) hidden: f64,
    /// The total length of the gaps found so far.
    gaps: f64,
    /// The shortest distance between two packets.
    shortest: Option<f64>,
    /// The distance between the last two packets. It is compared only when the next one is known, because the first may
    /// be a gap.
    distance: Option<f64>,
}

impl PacketSurvey {
    /// Creates a survey that ignores packets later than `max_seconds` after the first one.
    pub(super) fn new(max_seconds: f64) -> Self {
        Self { max_seconds, start: None, streams: BTreeMap::new(), is_inside: false }
    }

    /// Reads a line of ffprobe's compact JSON. Returns whether it belonged to the packets.
    // Line by line: an hour has hundreds of thousands of packets, too many to hold in memory.
    pub(super) fn read(&mut self, line: &[u8]) -> bool {
        if !self.is_inside {
            self.is_inside = line.trim_ascii() == b"\"packets\": [";
            return false;
        }
        // Some packets are followed by lines of side data, which are indented deeper.
        self.is_inside = !line.starts_with(b"    ]");
        let line = line.trim_ascii();
        if self.is_inside && line.starts_with(b"{ \"stream_index\"") {
            let fields = line.strip_suffix(b",").unwrap_or(line);
            let fields = fields.strip_suffix(b"}").unwrap_or(fields);
            if let Ok(packet) = serde_json::from_slice(&[fields, b"}"].concat()) {
                self.add(&packet);
            }
        }
        self.is_inside
    }

    /// Removes and returns the extent of a stream; empty if the stream has no packets.
    pub(super) fn take(&mut self, stream: u32) -> StreamExtent {
        self.streams.remove(&stream).unwrap_or_default()
    }

    fn add(&mut self, packet: &Packet) {
        // AVI has decoding times only.
        let Some(time) = packet.pts_time.or(packet.dts_time) else {
            self.streams.entry(packet.stream_index).or_default().packets += 1.0;
            return;
        };
        let duration = packet.duration_time.unwrap_or_default().max(0.0);
        // An edit list shifts hidden packets before 0. ffmpeg also flags them, except in fragmented files.
        let is_hidden = packet.flags.contains('D') || (time < 0.0 && time + duration <= 0.0);
        if !is_hidden {
            let start = self.start.map_or(time, |start| start.min(time));
            self.start = Some(start);
            if time >= start + self.max_seconds {
                return;
            }
        }
        self.streams.entry(packet.stream_index).or_default().add(time, duration, is_hidden);
    }
}

impl StreamExtent {
    /// The total length of the gaps between the packets of a sound, whose packets are equally long.
    // Declared lengths are useless here: mp4 extends each packet until the next one.
    pub(super) fn gaps(&self) -> f64 {
        self.gaps + self.last_gap()
    }

    fn add(&mut self, time: f64, duration: f64, is_hidden: bool) {
        self.packets += 1.0;
        if is_hidden {
            self.hidden += duration.max(f64::MIN_POSITIVE);
            return;
        }
        if let Some(start) = self.start {
            self.start = Some(start.min(time));
            let distance = time - self.last;
            if distance > 0.0 {
                self.shortest = Some(self.shortest.map_or(distance, |shortest| shortest.min(distance)));
            }
            self.gaps += self.last_gap();
            self.distance = Some(distance);
        } else {
            self.start = Some(time);
        }
        self.last = self.last.max(time);
        self.end = self.end.max(time + duration);
    }

    fn last_gap(&self) -> f64 {
        match (self.distance, self.shortest) {
            (Some(distance), Some(shortest)) if distance > shortest * GAP => distance - shortest,
            _ => 0.0,
        }
    }
}

/// ffprobe writes numbers as strings and omits unknown ones.
pub(super) fn number<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<f64>, D::Error> {
    let text = Option::<String>::deserialize(deserializer)?;
    Ok(text.and_then(|text| text.parse().ok()).filter(|number: &f64| number.is_finite()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The extent of a stream with packets of these times, lengths and flags.
    fn surveyed(packets: &[(f64, Option<f64>, &str)]) -> StreamExtent {
        let mut survey = PacketSurvey::new(60.0);
        for (time, duration, flags) in packets {
            let flags = (*flags).to_owned();
            survey.add(&Packet {
                stream_index: 0,
                pts_time: Some(*time),
                dts_time: None,
                duration_time: *duration,
                flags,
            });
        }
        survey.take(0)
    }

    #[test]
    fn a_gap_is_longer_than_two_packets_wherever_it_is() {
        for (distances, expected) in [
            (&[0.02, 0.02, 0.02][..], 0.0),
            // High-efficiency AAC alternates like this.
            (&[0.02, 0.04, 0.02, 0.04], 0.0),
            (&[0.02, 0.06, 0.02], 0.04),
            (&[0.06, 0.02], 0.04),
            (&[0.02, 0.06], 0.04),
            (&[0.02, 0.06, 0.02, 0.06], 0.08),
        ] {
            let mut time = 0.0;
            let later = distances.iter().map(|distance| {
                time += distance;
                (time, Some(0.02), "K__")
            });
            let packets: Vec<_> = std::iter::once((0.0, Some(0.02), "K__")).chain(later).collect();
            let gaps = surveyed(&packets).gaps();
            assert!((gaps - expected).abs() < 1e-9, "{distances:?}: {gaps}");
        }
    }

    #[test]
    fn packets_that_were_cut_off_are_hidden_whatever_tells_it() {
        for cut in [(-1.0, Some(1.0), "K__"), (0.0, Some(1.0), "KD_"), (0.0, None, "KD_")] {
            let extent = surveyed(&[cut, (0.5, Some(1.0), "___")]);
            assert!(extent.hidden > 0.0 && extent.start == Some(0.5), "{cut:?}: {extent:?}");
        }
        assert_eq!(surveyed(&[(-0.02, Some(0.04), "K__")]).hidden, 0.0, "a part of it is shown");
    }
}

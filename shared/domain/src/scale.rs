//! Scales of ratings, from 0 to a maximum that projects choose.

/// Converts a rating in tenths from the scale with `maximum` to the scale with the maximum `scale`, rounded half up.
pub fn rescaled(tenths: u32, maximum: u32, scale: u32) -> u32 {
    let value = u64::from(tenths) * u64::from(scale);
    let maximum = u64::from(maximum.max(1));
    u32::try_from((2 * value + maximum) / (2 * maximum)).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratings_are_rescaled_half_up() {
        assert_eq!([rescaled(35, 5, 10), rescaled(35, 5, 5), rescaled(33, 5, 3)], [70, 35, 20]);
        assert_eq!(rescaled(35, 10, 5), 18, "1.75 is rounded up");
    }
}

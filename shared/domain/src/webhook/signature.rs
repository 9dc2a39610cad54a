//! Signatures of deliveries: Standard Webhooks, <https://www.standardwebhooks.com/>.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use chrono::{DateTime, Utc};
use hmac::{Hmac, KeyInit, Mac as _};
use sha2::Sha256;

use super::secret::SigningSecret;

/// The value of the header `webhook-signature` of a delivery, with a signature for each of `secrets`.
///
/// `id` and `at` are the values of `webhook-id` and `webhook-timestamp`. `id` must not contain a dot.
pub fn signature<'a>(
    secrets: impl IntoIterator<Item = &'a SigningSecret>,
    id: &str,
    at: DateTime<Utc>,
    body: &[u8],
) -> String {
    let signatures = secrets.into_iter().map(|secret| {
        let mut mac = Hmac::<Sha256>::new(&to_block(secret.bytes()).into());
        mac.update(format!("{id}.{}.", at.timestamp()).as_bytes());
        mac.update(body);
        format!("v1,{}", STANDARD.encode(mac.finalize().into_bytes()))
    });
    signatures.collect::<Vec<_>>().join(" ")
}

fn to_block(key: &[u8; 32]) -> [u8; 64] {
    let mut block = [0; 64];
    block[..key.len()].copy_from_slice(key);
    block
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "msg_p5jXN8AQM9LWM0D4loKWxJek";
    const BODY: &[u8] = br#"{"test": 2432232314}"#;
    const SIGNATURE: &str = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=";

    /// The secret of the test vector has 24 bytes. HMAC pads keys with zeroes, so a key of 32 bytes can give the same signatures.
    fn secret(last: u8) -> SigningSecret {
        let mut key = STANDARD.decode("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").unwrap();
        key.resize(32, 0);
        key[31] = last;
        SigningSecret::try_from(format!("whsec_{}", STANDARD.encode(key))).unwrap()
    }

    fn at(second: i64) -> DateTime<Utc> {
        DateTime::from_timestamp(second, 999_000_000).unwrap()
    }

    #[test]
    fn the_vector_of_the_libraries_of_standard_webhooks_holds() {
        assert_eq!(signature([&secret(0)], ID, at(1_614_265_330), BODY), SIGNATURE);
    }

    #[test]
    fn a_rotation_signs_with_both_secrets() {
        let both = signature([&secret(1), &secret(0)], ID, at(1_614_265_330), BODY);
        let (new, former) = both.split_once(' ').unwrap();
        assert_eq!(new, signature([&secret(1)], ID, at(1_614_265_330), BODY));
        assert_eq!(former, SIGNATURE);
    }

    #[test]
    fn id_time_body_and_secret_are_signed() {
        for other in [
            signature([&secret(0)], "msg_", at(1_614_265_330), BODY),
            signature([&secret(0)], ID, at(1_614_265_331), BODY),
            signature([&secret(0)], ID, at(1_614_265_330), br#"{"test":2432232314}"#),
            signature([&secret(1)], ID, at(1_614_265_330), BODY),
        ] {
            assert_ne!(other, SIGNATURE);
        }
    }
}

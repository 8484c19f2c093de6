//! What a call of a service may take: what its manifest says, else the daemon's settings.

use std::time::Duration;

use roost_model::service::manifest::CallLimits;
use serde_json::value::RawValue;

use super::UpstreamError;

/// The limits of services whose manifests give none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DefaultLimits {
    /// How long a call may take; 20 seconds.
    pub timeout: Duration,
    /// The bytes of a request and of an answer; 1 MiB.
    pub max_payload_bytes: u64,
    /// How many calls may be under way at once; 8.
    pub max_concurrency: u16,
}

impl Default for DefaultLimits {
    fn default() -> Self {
        Self { timeout: Duration::from_secs(20), max_payload_bytes: 1024 * 1024, max_concurrency: 8 }
    }
}

impl DefaultLimits {
    /// The defaults with what the variables `CLARITY_REMOTE_DEFAULT_TIMEOUT_MS`, `CLARITY_REMOTE_MAX_PAYLOAD_BYTES` and
    /// `CLARITY_REMOTE_MAX_CONCURRENCY` say; a value that is no positive number is ignored.
    pub fn from_variables(variable: impl Fn(&str) -> Option<String>) -> Self {
        let number = |name| variable(name)?.trim().parse::<u64>().ok().filter(|number| *number > 0);
        let mut limits = Self::default();
        if let Some(millis) = number("CLARITY_REMOTE_DEFAULT_TIMEOUT_MS") {
            limits.timeout = Duration::from_millis(millis);
        }
        if let Some(bytes) = number("CLARITY_REMOTE_MAX_PAYLOAD_BYTES") {
            limits.max_payload_bytes = bytes;
        }
        if let Some(calls) = number("CLARITY_REMOTE_MAX_CONCURRENCY").and_then(|calls| u16::try_from(calls).ok()) {
            limits.max_concurrency = calls;
        }
        limits
    }

    /// The limits of a service with this manifest.
    pub(super) fn of(&self, manifest: &CallLimits) -> ServiceLimits {
        ServiceLimits {
            timeout: manifest.timeout_ms.map_or(self.timeout, Duration::from_millis),
            max_payload: usize::try_from(manifest.max_payload_bytes.unwrap_or(self.max_payload_bytes))
                .unwrap_or(usize::MAX),
            max_concurrency: usize::from(manifest.max_concurrency.unwrap_or(self.max_concurrency)).max(1),
        }
    }
}

/// The limits of one service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ServiceLimits {
    pub(super) timeout: Duration,
    pub(super) max_payload: usize,
    pub(super) max_concurrency: usize,
}

impl ServiceLimits {
    /// How long a call may take for which the caller would wait this long.
    pub(super) fn patience(&self, wanted: Duration) -> Duration {
        wanted.min(self.timeout)
    }

    /// Refuses parameters that are too long.
    pub(super) fn check_request(&self, params: Option<&RawValue>) -> Result<(), UpstreamError> {
        match params.map_or(0, |params| params.get().len()) {
            bytes if bytes > self.max_payload => Err(UpstreamError::TooLarge { bytes, limit: self.max_payload }),
            _ => Ok(()),
        }
    }

    /// The failure of a call whose answer is too long.
    pub(super) fn too_long(&self, bytes: u64) -> UpstreamError {
        UpstreamError::AnswerTooLarge { bytes, limit: self.max_payload }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_manifest_wins_over_variables_and_variables_over_defaults() {
        let variables = |name: &str| match name {
            "CLARITY_REMOTE_DEFAULT_TIMEOUT_MS" => Some("500".to_owned()),
            "CLARITY_REMOTE_MAX_PAYLOAD_BYTES" => Some("none".to_owned()),
            _ => None,
        };
        let manifest = CallLimits { max_concurrency: Some(3), ..CallLimits::default() };
        let expected =
            ServiceLimits { timeout: Duration::from_millis(500), max_payload: 1024 * 1024, max_concurrency: 3 };
        assert_eq!(DefaultLimits::from_variables(variables).of(&manifest), expected);
    }
}

//! Why somebody is not let in.

/// Why somebody is not let in, in words that may leave the host.
#[derive(Clone, Debug, thiserror::Error)]
pub enum AuthError {
    /// It is unknown, used or too old.
    #[error("Invalid or expired pairing token; show a new one with `roost pair`")]
    PairingToken,
    /// Somebody at the host said no.
    #[error("Pairing request rejected")]
    Rejected,
    /// It is wrong, used or too old.
    #[error("Invalid or expired pairing code")]
    Code,
    /// It was guessed at too often, by many.
    #[error("The pairing code was withdrawn after too many wrong tries; show a new one with `roost pair`")]
    CodeWithdrawn,
    /// Too many wrong codes came from there.
    #[error(
        "Too many wrong pairing codes came from this address; scan the QR code, or show a new code with `roost pair`"
    )]
    AddressLocked,
    /// It is unknown or too old.
    #[error("Invalid or expired access token")]
    AccessToken,
    /// It is unknown, used or too old.
    #[error("Invalid or expired refresh token; pair again")]
    RefreshToken,
    /// No such request waits.
    #[error("No pairing request {0} is waiting")]
    UnknownRequest(String),
    /// No such device is paired.
    #[error("No device {0} is paired; `roost devices` lists those that are")]
    UnknownDevice(String),
    /// More would be too many to look at.
    #[error("Too many devices wait for approval; answer them first")]
    TooManyRequests,
    /// The change could not be stored, so it did not happen.
    #[error("The change could not be stored, so it did not happen; try again, or see the daemon's log")]
    Store(#[from] roost_log::Error),
    /// Something that is none of the caller's doing.
    #[error("Roost could not do this: {0}")]
    Internal(String),
    /// Nothing could be paired with it.
    #[error("This daemon serves only the local socket; start it with `roost up` to pair devices")]
    NotServed,
}

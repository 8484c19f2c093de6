//! Why a pairing or token request is refused.

/// Why a pairing or token request is refused. The messages may be sent to clients.
#[derive(Clone, Debug, thiserror::Error)]
pub enum AuthError {
    /// The pairing token is unknown, used or expired.
    #[error("Invalid or expired pairing token; show a new one with `roost pair`")]
    PairingToken,
    /// Somebody at the host rejected the request.
    #[error("Pairing request rejected")]
    Rejected,
    /// The pairing code is wrong, used or expired.
    #[error("Invalid or expired pairing code")]
    Code,
    /// The code was withdrawn after 50 wrong tries from all addresses together.
    #[error("The pairing code was withdrawn after too many wrong tries; show a new one with `roost pair`")]
    CodeWithdrawn,
    /// The address is locked after 5 wrong codes.
    #[error("Too many wrong pairing codes came from this address; show a new code with `roost pair`")]
    AddressLocked,
    /// The access token is unknown or expired.
    #[error("Invalid or expired access token")]
    AccessToken,
    /// The refresh token is unknown, used or expired.
    #[error("Invalid or expired refresh token; pair again")]
    RefreshToken,
    /// No pairing request with this id waits for an answer.
    #[error("No pairing request {0} is waiting")]
    UnknownRequest(String),
    /// No device with this id is paired.
    #[error("No device {0} is paired; `roost devices` lists those that are")]
    UnknownDevice(String),
    /// The token of a program was asked for without a name.
    #[error("Give the program a name of at least one character, so that its token can be found and revoked")]
    NoName,
    /// As many requests wait already as anybody would look through.
    #[error("Too many devices wait for approval; answer them first")]
    TooManyRequests,
    /// The change could not be stored, so it did not happen.
    #[error("The change could not be stored, so it did not happen; try again, or see the daemon's log")]
    Store(#[from] roost_log::Error),
    /// A fault of Roost's own, such as missing random numbers.
    #[error("Roost could not do this: {0}")]
    Internal(String),
    /// The daemon does not listen on TCP, so no device could reach it.
    #[error("This daemon serves only the local socket; start it with `roost up` to pair devices")]
    NotServed,
}

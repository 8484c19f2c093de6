//! Tokens: random, told apart by their prefix, stored as hashes only.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

use super::error::AuthError;

/// The three kinds of tokens, told apart by their prefixes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenKind {
    /// To be exchanged once, by a new device.
    Pairing,
    /// Authenticates requests and connections; short-lived.
    Access,
    /// To be exchanged once, for the next pair.
    Refresh,
}

impl TokenKind {
    /// The prefix of tokens of this kind.
    pub fn prefix(self) -> &'static str {
        match self {
            Self::Pairing => "cdev_p_",
            Self::Access => "cdev_s_",
            Self::Refresh => "cdev_r_",
        }
    }
}

/// The length of 32 random bytes as text, in characters.
const RANDOM: usize = 43;

/// 32 random bytes as URL-safe base64.
pub(super) fn random() -> Result<String, AuthError> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).map_err(|error| AuthError::Internal(format!("no random numbers: {error}")))?;
    Ok(URL_SAFE_NO_PAD.encode(bytes))
}

/// A token in the clear.
///
/// A refresh token has two random halves. The first is the same in all tokens of a device, so that a spent one can be
/// recognised when it comes again; the second is its own.
#[derive(Clone)]
pub struct Token {
    kind: TokenKind,
    text: String,
}

impl Token {
    /// Makes a random token; fails only if the system has no random numbers.
    pub fn new(kind: TokenKind) -> Result<Self, AuthError> {
        let family = if kind == TokenKind::Refresh { random()? } else { String::new() };
        Ok(Self { kind, text: format!("{}{family}{}", kind.prefix(), random()?) })
    }

    /// Reads one of this kind; `None` if it can be none.
    pub fn read(kind: TokenKind, text: &str) -> Option<Self> {
        let halves = if kind == TokenKind::Refresh { 2 } else { 1 };
        let body = text.strip_prefix(kind.prefix())?;
        let known = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
        (body.len() == halves * RANDOM && body.bytes().all(known)).then(|| Self { kind, text: text.into() })
    }

    /// The refresh token that follows this one in the same family.
    pub(super) fn successor(&self) -> Result<Self, AuthError> {
        Ok(Self { kind: self.kind, text: format!("{}{}", self.family_text(), random()?) })
    }

    /// The token in the clear, for the response to its owner only.
    pub fn reveal(&self) -> &str {
        &self.text
    }

    /// The hash under which the token is stored.
    pub fn hash(&self) -> TokenHash {
        TokenHash::new(&self.text)
    }

    /// The hash of the half that it shares with its successors.
    pub(super) fn family(&self) -> TokenHash {
        TokenHash::new(self.family_text())
    }

    fn family_text(&self) -> &str {
        &self.text[..self.text.len() - RANDOM]
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}…", self.kind.prefix())
    }
}

/// The SHA-256 of a secret; compared in constant time.
#[derive(Clone, Copy, Eq)]
pub struct TokenHash([u8; 32]);

impl TokenHash {
    /// Hashes a secret with SHA-256.
    pub fn new(secret: &str) -> Self {
        Self(Sha256::digest(secret).into())
    }
}

impl PartialEq for TokenHash {
    fn eq(&self, other: &Self) -> bool {
        self.0.ct_eq(&other.0).into()
    }
}

impl std::hash::Hash for TokenHash {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.0.hash(state);
    }
}

impl fmt::Display for TokenHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&URL_SAFE_NO_PAD.encode(self.0))
    }
}

impl fmt::Debug for TokenHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TokenHash(…)")
    }
}

impl Serialize for TokenHash {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl std::str::FromStr for TokenHash {
    type Err = base64::DecodeSliceError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut bytes = [0; 32];
        match URL_SAFE_NO_PAD.decode_slice(text, &mut bytes)? {
            32 => Ok(Self(bytes)),
            length => Err(base64::DecodeError::InvalidLength(length).into()),
        }
    }
}

impl<'de> Deserialize<'de> for TokenHash {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KINDS: [TokenKind; 3] = [TokenKind::Pairing, TokenKind::Access, TokenKind::Refresh];

    #[test]
    fn a_token_is_read_back_and_is_never_the_same_twice() {
        for kind in KINDS {
            let token = Token::new(kind).unwrap();
            assert_eq!(Token::read(kind, token.reveal()).unwrap().hash(), token.hash());
            assert_ne!(Token::new(kind).unwrap().hash(), token.hash());
        }
    }

    #[test]
    fn a_token_of_another_kind_or_shape_is_none() {
        let access = Token::new(TokenKind::Access).unwrap();
        assert!(Token::read(TokenKind::Pairing, access.reveal()).is_none());
        let long = format!("{}x", access.reveal());
        let strange = access.reveal().replace(|c: char| c.is_ascii_digit(), "é");
        for text in ["", "cdev_s_", "Bearer", &long, &strange] {
            assert!(Token::read(TokenKind::Access, text).is_none(), "{text}");
        }
    }

    #[test]
    fn debug_output_does_not_tell_a_token_or_a_hash() {
        let token = Token::new(TokenKind::Refresh).unwrap();
        assert_eq!(format!("{token:?} {:?}", token.hash()), "cdev_r_… TokenHash(…)");
    }

    #[test]
    fn a_successor_is_another_token_of_the_same_family() {
        let token = Token::new(TokenKind::Refresh).unwrap();
        let next = token.successor().unwrap();
        assert_eq!(next.family(), token.family());
        assert_ne!(next.hash(), token.hash());
        assert_ne!(Token::new(TokenKind::Refresh).unwrap().family(), token.family());
        assert!(Token::read(TokenKind::Refresh, next.reveal()).is_some());
    }

    #[test]
    fn a_hash_is_stored_as_text_and_read_back() {
        let hash = TokenHash::new("a secret");
        let json = serde_json::to_string(&hash).unwrap();
        assert_eq!(serde_json::from_str::<TokenHash>(&json).unwrap(), hash);
        assert!(serde_json::from_str::<TokenHash>("\"c2hvcnQ\"").is_err());
    }
}

//! Undoes a compressed body that came although none was asked for.
//!
//! Streams ask for `identity`, yet gateways compress all the same. A gzip stream cut short must
//! not look like a clean end, so the decoder knows whether the trailer has come.

use flate2::write::MultiGzDecoder;
use std::io::Write as _;

/// How the bytes of a body are encoded.
#[derive(Debug)]
pub enum Encoding {
    /// As they are.
    Identity,
    /// gzip.
    Gzip(Box<Gunzip>),
}

/// A compressed body that is broken, or compressed in a way that is not known.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the body's content-encoding cannot be undone: {what}")]
pub struct EncodingError {
    /// What is wrong.
    pub what: String,
}

impl Encoding {
    /// The decoder for a `content-encoding` header.
    ///
    /// # Errors
    /// [`EncodingError`] for an encoding that Rejoin does not know.
    pub fn of(header: Option<&str>) -> Result<Self, EncodingError> {
        match header.map(|value| value.trim().to_ascii_lowercase()).as_deref() {
            None | Some("" | "identity") => Ok(Self::Identity),
            Some("gzip" | "x-gzip") => Ok(Self::Gzip(Box::new(Gunzip::new()))),
            Some(other) => Err(EncodingError { what: format!("unknown encoding {other:?}") }),
        }
    }

    /// How many bytes to decode at once. Small steps bound what a decompression bomb can inflate
    /// to: at deflate's best ratio of about 1,030 to 1 a step becomes at most 4 MB.
    #[must_use]
    pub fn step(&self) -> usize {
        match self {
            Self::Identity => usize::MAX,
            Self::Gzip(_) => 4096,
        }
    }

    /// Decodes the next bytes of the body and hands the plain bytes to `plain`.
    ///
    /// # Errors
    /// [`EncodingError`] when the compressed bytes are broken.
    pub fn decode(
        &mut self,
        bytes: &[u8],
        plain: &mut dyn FnMut(&[u8]),
    ) -> Result<(), EncodingError> {
        match self {
            Self::Identity => plain(bytes),
            Self::Gzip(gunzip) => {
                gunzip.write(bytes)?;
                plain(gunzip.inner.get_ref());
                gunzip.inner.get_mut().clear();
            }
        }
        Ok(())
    }

    /// True if the body ended where its encoding says that it ends.
    #[must_use]
    pub fn is_whole(&mut self) -> bool {
        match self {
            Self::Identity => true,
            Self::Gzip(gunzip) => gunzip.inner.try_finish().is_ok(),
        }
    }
}

/// A gzip decoder that takes bytes as they come.
pub struct Gunzip {
    inner: MultiGzDecoder<Vec<u8>>,
}

impl std::fmt::Debug for Gunzip {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Gunzip")
    }
}

impl Gunzip {
    fn new() -> Self {
        Self { inner: MultiGzDecoder::new(Vec::new()) }
    }

    fn write(&mut self, piece: &[u8]) -> Result<(), EncodingError> {
        let broken = |error: std::io::Error| EncodingError { what: error.to_string() };
        self.inner.write_all(piece).map_err(broken)?;
        // Without a flush, text that is already decodable would wait for later bytes.
        self.inner.flush().map_err(broken)
    }
}

//! Certificates by which a house's own mail servers are believed, beside those of the system.

use rustls::pki_types::pem::PemObject;

pub use rustls::pki_types::CertificateDer;

/// All that stand in a text in PEM; what is none is left out.
pub fn read(pem: &str) -> Vec<CertificateDer<'static>> {
    CertificateDer::pem_slice_iter(pem.as_bytes()).flatten().collect()
}

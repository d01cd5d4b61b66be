//! Whether a person wrote a mail.

//! Whatever the bytes are, there is a mail in the end, by every way in.
#![no_main]

use deskhand_adapters::email::{Ours, inbound, way};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let received = way::raw(bytes);
    let understood = inbound(&received, Ours::default());
    assert!(!understood.whole.contains('\0') && !understood.words.contains('\0'));
    assert!(!received.mail.text.contains('\r'));
    for kind in ["multipart/form-data; boundary=b", "application/x-www-form-urlencoded"] {
        let _ = way::mailgun(kind, bytes);
        let _ = way::sendgrid(kind, bytes);
    }
    let _ = way::postmark(bytes);
    let _ = way::ses(bytes);
});

//! Bytes of text to text: the declared charset if the bytes are that, else what they look like.
//!
//! Declarations are wrong in three known ways: none at all, ASCII with 8-bit bytes behind it, and Latin-1 for UTF-8.

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{Encoding, ISO_2022_JP, UTF_8, WINDOWS_1252};

/// So many bytes are enough to guess by.
const SAMPLE: usize = 64 * 1024;

/// Never fails; bytes that fit nothing become U+FFFD. NUL is dropped, since no store holds it.
pub fn decode(bytes: &[u8], declared: Option<&str>) -> String {
    let text = decoded(bytes, declared);
    if text.contains('\0') {
        text.replace('\0', "")
    } else {
        text
    }
}

fn decoded(bytes: &[u8], declared: Option<&str>) -> String {
    let declared = declared.map(str::trim).filter(|label| !label.is_empty());
    if declared.is_some_and(|label| label.to_ascii_lowercase().contains("utf-7"))
        && let Some(read) = mail_parser::decoders::charsets::map::charset_decoder(b"utf-7")
    {
        return read(bytes);
    }
    if let Some(marked) = with_mark(bytes) {
        return marked;
    }
    if shifts_to_japanese(bytes) {
        return ISO_2022_JP.decode_without_bom_handling(bytes).0.into_owned();
    }
    if bytes.is_ascii() && declared.and_then(known).is_none_or(Encoding::is_ascii_compatible) {
        return String::from_utf8_lossy(bytes).into_owned();
    }
    // Valid UTF-8 with 8-bit bytes is UTF-8, whatever the label: other charsets make it by accident only in very short texts.
    let label = declared.and_then(known);
    let may_be_utf8 = label.is_none_or(|label| label == UTF_8 || label == WINDOWS_1252 || label.is_single_byte());
    if may_be_utf8 && let Ok(text) = std::str::from_utf8(bytes) {
        return text.to_owned();
    }
    if let Some(label) = label.filter(|label| !is_ascii_label(declared) && *label != UTF_8) {
        let (text, broken) = label.decode_without_bom_handling(bytes);
        if !broken || damage(&text) * 50 <= text.chars().count() {
            return text.into_owned();
        }
    }
    let lossy = String::from_utf8_lossy(bytes);
    // A cut or slightly broken UTF-8 text still is one: its sequences do not come about by chance.
    let sequences = lossy
        .chars()
        .filter(|c| !c.is_ascii() && *c != char::REPLACEMENT_CHARACTER)
        .count();
    if sequences > damage(&lossy) {
        return lossy.into_owned();
    }
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Allow);
    detector.feed(&bytes[..bytes.len().min(SAMPLE)], true);
    let guess = detector.guess(None, Utf8Detection::Allow);
    guess.decode_without_bom_handling(bytes).0.into_owned()
}

fn damage(text: &str) -> usize {
    text.chars().filter(|c| *c == char::REPLACEMENT_CHARACTER).count()
}

/// A label as the WHATWG list has it, or one of those that mail programs made up.
fn known(label: &str) -> Option<&'static Encoding> {
    let label = label.trim_matches(['"', '\'', ' ']).to_ascii_lowercase();
    let label = match label.as_str() {
        "cp936" | "ms936" | "windows-936" | "gb_2312" | "gb-2312" | "chinesegb" => "gbk",
        "cp950" | "ms950" | "big5-hkscs:2004" => "big5",
        "cp949" | "ms949" | "uhc" | "ksc5601" | "ks_c_5601" | "x-windows-949" => "euc-kr",
        "cp932" | "ms932" | "windows-932" | "shift-jis" | "sjis-win" => "shift_jis",
        "cp1252" | "ansi" | "8bit" | "iso8859_1" | "latin-1" => "windows-1252",
        "cp1251" => "windows-1251",
        "cp1250" => "windows-1250",
        "cp1256" => "windows-1256",
        "utf8mb4" | "utf_8" => "utf-8",
        other => other,
    };
    Encoding::for_label(label.as_bytes())
}

/// `us-ascii` is Windows-1252 to the WHATWG; in mail, 8-bit bytes under it mean that nobody knew.
fn is_ascii_label(declared: Option<&str>) -> bool {
    declared.is_some_and(|label| {
        matches!(
            label.to_ascii_lowercase().as_str(),
            "us-ascii" | "ascii" | "ansi_x3.4-1968" | "8bit"
        )
    })
}

fn with_mark(bytes: &[u8]) -> Option<String> {
    let (encoding, length) = Encoding::for_bom(bytes)?;
    Some(encoding.decode_without_bom_handling(&bytes[length..]).0.into_owned())
}

/// ISO-2022-JP is seven-bit and often undeclared; its escapes stand in no other text.
fn shifts_to_japanese(bytes: &[u8]) -> bool {
    let shifts = bytes
        .windows(3)
        .filter(|three| matches!(three, [0x1b, b'$', b'B' | b'@']))
        .count();
    shifts > 0 && bytes.is_ascii()
}

#[cfg(test)]
mod tests {
    use super::*;
    use encoding_rs::{BIG5, EUC_KR, GBK, SHIFT_JIS, WINDOWS_1251};

    #[test]
    fn the_declared_charset_is_taken_where_the_bytes_are_that() {
        let (gbk, _, _) = GBK.encode("我想退货，订单四十二还没有到。");
        for label in ["gbk", "GB2312", "\"gb18030\"", "cp936"] {
            assert_eq!(decode(&gbk, Some(label)), "我想退货，订单四十二还没有到。", "{label}");
        }
        let (kr, _, _) = EUC_KR.encode("환불해 주세요");
        assert_eq!(decode(&kr, Some("ks_c_5601-1987")), "환불해 주세요");
        assert_eq!(decode(b"gr\xfc\xdfe", Some("iso-8859-1")), "grüße");
        assert_eq!(decode(b"Hi Mom -+Jjo--+ACE-", Some("utf-7")), "Hi Mom -☺-!");
    }

    #[test]
    fn without_a_declaration_or_with_a_wrong_one_the_bytes_tell() {
        let (jp, _, _) = ISO_2022_JP.encode("返品したいのですが、どうすればいいですか。");
        for label in [None, Some("us-ascii"), Some("utf-8")] {
            assert_eq!(
                decode(&jp, label),
                "返品したいのですが、どうすればいいですか。",
                "{label:?}"
            );
        }
        let texts = [
            (
                GBK.encode("您好，我上周买的台灯到今天还没有收到，请帮我查询一下物流信息，谢谢。")
                    .0,
                "您好",
            ),
            (
                BIG5.encode("您好，我上週買的檯燈到今天還沒有收到，請幫我查詢一下物流資訊，謝謝。")
                    .0,
                "您好，我上週",
            ),
            (
                EUC_KR
                    .encode("안녕하세요, 지난주에 산 램프가 아직 도착하지 않았습니다. 확인해 주세요.")
                    .0,
                "안녕하세요",
            ),
            (
                SHIFT_JIS
                    .encode("先週購入したランプがまだ届いていません。ご確認をお願いいたします。")
                    .0,
                "先週購入",
            ),
            (
                WINDOWS_1251
                    .encode("Здравствуйте, лампа до сих пор не пришла. Проверьте, пожалуйста.")
                    .0,
                "Здравствуйте",
            ),
        ];
        for (bytes, start) in &texts {
            for label in [None, Some("us-ascii"), Some("no-such-charset"), Some("utf-8")] {
                assert!(
                    decode(bytes, label).starts_with(start),
                    "{start} {label:?}: {}",
                    decode(bytes, label)
                );
            }
        }
        assert_eq!(decode("grüße".as_bytes(), Some("iso-8859-1")), "grüße");
        assert_eq!(decode("grüße".as_bytes(), Some("us-ascii")), "grüße");
        assert_eq!(decode(b"\xef\xbb\xbfhi", Some("latin1")), "hi");
    }

    #[test]
    fn broken_utf8_stays_utf8() {
        let mut bytes = "Grüße aus Köln, schöne Lampe".as_bytes().to_vec();
        bytes.push(0xc3);
        assert_eq!(decode(&bytes, Some("utf-8")), "Grüße aus Köln, schöne Lampe\u{fffd}");
        assert_eq!(decode(b"a\0b", None), "ab");
    }
}

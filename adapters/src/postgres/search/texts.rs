//! A `text[]` that is looked through where it lies. A search reads hundreds of documents with hundreds of tokens each and
//! wants a handful of them: a string for each would be most of what it costs.

use sqlx::error::BoxDynError;
use sqlx::postgres::{PgTypeInfo, PgValueFormat, PgValueRef};
use sqlx::{Decode, Postgres, Type};

/// The array as Postgres sends it: dimensions, flags, the element's type, then for each dimension its length and lower
/// bound, then the elements, each with its length before it. All numbers are 32 bits, big-endian.
#[derive(Debug)]
pub(super) struct Texts(Vec<u8>);

impl Texts {
    /// The elements in their order, up to the first that is no text.
    pub(super) fn iter(&self) -> impl Iterator<Item = &str> {
        let dimensions = number(&self.0).unwrap_or(0);
        let head = 12 + 8 * usize::try_from(dimensions).unwrap_or(0);
        let mut rest = self.0.get(head..).unwrap_or_default();
        std::iter::from_fn(move || {
            let length = usize::try_from(number(rest)?).ok()?;
            let element = rest.get(4..4 + length)?;
            rest = &rest[4 + length..];
            std::str::from_utf8(element).ok()
        })
    }
}

fn number(bytes: &[u8]) -> Option<i32> {
    let four = bytes.get(..4)?;
    Some(i32::from_be_bytes(four.try_into().ok()?))
}

impl Type<Postgres> for Texts {
    fn type_info() -> PgTypeInfo {
        <Vec<String> as Type<Postgres>>::type_info()
    }

    fn compatible(of: &PgTypeInfo) -> bool {
        <Vec<String> as Type<Postgres>>::compatible(of)
    }
}

impl Decode<'_, Postgres> for Texts {
    fn decode(value: PgValueRef<'_>) -> Result<Self, BoxDynError> {
        match value.format() {
            PgValueFormat::Binary => Ok(Self(value.as_bytes()?.to_vec())),
            PgValueFormat::Text => Err("an array of texts in text form".into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn array(elements: &[&str]) -> Texts {
        let count = i32::try_from(elements.len()).expect("few");
        let mut bytes = Vec::new();
        for number in [1, 0, 25, count, 1] {
            bytes.extend(i32::to_be_bytes(number));
        }
        for element in elements {
            bytes.extend(i32::to_be_bytes(i32::try_from(element.len()).expect("short")));
            bytes.extend(element.as_bytes());
        }
        Texts(bytes)
    }

    #[test]
    fn elements_are_read_in_their_order() {
        let texts = array(&["kettle", "", "水壶"]);
        assert_eq!(texts.iter().collect::<Vec<_>>(), ["kettle", "", "水壶"]);
    }

    #[test]
    fn an_empty_or_broken_array_has_no_more_elements() {
        assert_eq!(Texts(vec![0; 12]).iter().count(), 0);
        assert_eq!(Texts(Vec::new()).iter().count(), 0);
        let mut cut = array(&["kettle", "lid"]);
        cut.0.truncate(cut.0.len() - 1);
        assert_eq!(cut.iter().collect::<Vec<_>>(), ["kettle"]);
    }
}

//! Text into a sparse vector: words, pairs of words, and the letters inside words.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use crate::offline::text::words;
use crate::search::{stem, unspaced};

/// Letters of the n-grams inside a word, its edges marked.
const SHORTEST: usize = 2;
const LONGEST: usize = 5;

/// Which n-grams are known, by their hashes, and how rare each is. The hash is fixed, so that an artifact means the same
/// on every machine; two n-grams that share one of 2³² hashes are taken for the same.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Vocabulary {
    /// Sorted; the place is the feature's number.
    hashes: Vec<u32>,
    idf: Vec<f32>,
}

impl Vocabulary {
    /// N-grams that at least `fewest` texts have; the more frequent ones when there are more than `most`.
    pub(super) fn of(texts: &[Grams], mut fewest: u32, most: usize) -> Self {
        let mut seen: HashMap<u32, u32> = HashMap::new();
        for text in texts {
            for (hash, _) in &text.0 {
                *seen.entry(*hash).or_default() += 1;
            }
        }
        while seen.values().filter(|texts| **texts >= fewest).count() > most {
            fewest += 1;
        }
        let mut known: Vec<(u32, u32)> = seen.into_iter().filter(|(_, texts)| *texts >= fewest).collect();
        known.sort_unstable();
        let n = texts.len() as f32;
        let idf = known
            .iter()
            .map(|(_, df)| ((1.0 + n) / (1.0 + *df as f32)).ln() + 1.0)
            .collect();
        Self {
            hashes: known.into_iter().map(|(hash, _)| hash).collect(),
            idf,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.hashes.len()
    }

    /// Sublinear TF-IDF; words and letters each have length 1.
    pub(super) fn features(&self, text: &Grams) -> Vec<(u32, f32)> {
        let mut out: Vec<(u32, f32)> = Vec::new();
        let mut norms = [0.0_f32; 2];
        for (hash, times) in &text.0 {
            let Ok(place) = self.hashes.binary_search(hash) else {
                continue;
            };
            let value = (1.0 + (*times as f32).ln()) * self.idf[place];
            norms[kind(*hash)] += value * value;
            out.push((place as u32, value));
        }
        for (place, value) in &mut out {
            *value /= norms[kind(self.hashes[*place as usize])].sqrt();
        }
        out
    }
}

/// The lowest bit of a hash says whether it is of words or of letters.
fn kind(hash: u32) -> usize {
    (hash & 1) as usize
}

/// Hashes with how often each stands in the text. Sorted: a sum in another order would round to another artifact.
pub(super) struct Grams(Vec<(u32, u32)>);

pub(super) fn grams(text: &str) -> Grams {
    let mut hashes: Vec<u32> = Vec::new();
    let mut add = |hash: u32| hashes.push(hash);
    let words = words(text);
    for (at, word) in words.iter().enumerate() {
        add(hash_of(0, &[word]));
        if let Some(next) = words.get(at + 1) {
            add(hash_of(0, &[word, " ", next]));
        }
        let stem = stem(word);
        if !stem.is_empty() && stem != *word {
            add(hash_of(0, &["~", &stem]));
        }
        if word.starts_with(unspaced) {
            continue;
        }
        let padded: Vec<char> = std::iter::once(' ').chain(word.chars()).chain([' ']).collect();
        for length in SHORTEST..=LONGEST.min(padded.len()) {
            for gram in padded.windows(length) {
                let mut text = [0_u8; 4 * LONGEST];
                let mut end = 0;
                for c in gram {
                    end += c.encode_utf8(&mut text[end..]).len();
                }
                add(hash_bytes(1, text[..end].iter().copied()));
            }
        }
    }
    hashes.sort_unstable();
    let counted = hashes.chunk_by(|a, b| a == b);
    Grams(counted.map(|same| (same[0], same.len() as u32)).collect())
}

/// FNV-1a, its lowest bit replaced by the kind.
fn hash_of(kind: u32, parts: &[&str]) -> u32 {
    hash_bytes(kind, parts.iter().flat_map(|part| part.bytes()))
}

fn hash_bytes(kind: u32, bytes: impl Iterator<Item = u8>) -> u32 {
    let mut hash: u32 = 0x811c_9dc5 ^ kind;
    for byte in bytes {
        hash = (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193);
    }
    hash ^= hash >> 15;
    (hash & !1) | kind
}

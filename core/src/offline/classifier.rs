//! A linear classifier over word and character n-grams: one machine for each label, its scores made into probabilities.
//!
//! No clock and no chance: the same examples in the same order give the same classifier on every replica. It is made for
//! hundreds to some ten thousands of short texts and up to some hundred labels.

mod features;
mod train;

use std::collections::HashMap;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use features::{Vocabulary, grams};

/// A past text with what it was. Supervisors' corrections weigh more.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Example<'a> {
    pub text: &'a str,
    pub label: &'a str,
    /// 1 is usual; 0 or less is left out.
    pub weight: f32,
}

/// The trained artifact. As JSON it is a few megabytes at most: weights are kept as one byte each.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Classifier {
    /// Sorted.
    labels: Vec<String>,
    /// Divides the scores so that of the texts where it says 0.8 about eight in ten are right.
    temperature: f32,
    vocabulary: Vocabulary,
    weights: Weights,
    bias: Vec<f32>,
}

impl Classifier {
    /// `None` with fewer than two labels: there is nothing to tell apart.
    pub fn train(examples: &[Example<'_>]) -> Option<Self> {
        train::train(examples, 0).map(|(classifier, _)| classifier)
    }

    pub fn labels(&self) -> &[String] {
        &self.labels
    }

    /// Trains, and also gives what was said of examples that were kept out of the training, by a classifier of the others.
    /// The first `known` examples are always trained on and never asked.
    pub(super) fn train_and_hold(examples: &[Example<'_>], known: usize) -> Option<(Self, Vec<Held>)> {
        train::train(examples, known)
    }

    /// Every label with its probability, likeliest first.
    pub fn predict(&self, text: &str) -> Vec<(String, f64)> {
        let log = self.log_probabilities(text);
        let mut out: Vec<(String, f64)> = self.labels.iter().cloned().zip(log.into_iter().map(f64::exp)).collect();
        out.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        out
    }

    /// The logarithm of each label's probability, in the order of [`labels`](Self::labels).
    pub(super) fn log_probabilities(&self, text: &str) -> Vec<f64> {
        log_softmax(&self.scores(&self.vocabulary.features(&grams(text))), self.temperature)
    }

    fn scores(&self, features: &[(u32, f32)]) -> Vec<f32> {
        let mut scores = self.bias.clone();
        for (feature, value) in features {
            self.weights.add_row(*feature as usize, *value, &mut scores);
        }
        scores
    }
}

/// What was said of an example that had no part in the training.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Held {
    /// Its place among the examples.
    pub(super) example: usize,
    pub(super) log_probabilities: Vec<f64>,
}

fn log_softmax(scores: &[f32], temperature: f32) -> Vec<f64> {
    let top = scores.iter().copied().fold(f32::MIN, f32::max);
    let cold: Vec<f64> = scores
        .iter()
        .map(|score| f64::from((score - top) / temperature))
        .collect();
    let sum = cold.iter().map(|one| one.exp()).sum::<f64>().ln();
    cold.into_iter().map(|one| one - sum).collect()
}

/// Rows of one byte a weight with a scale for each row.
#[derive(Clone, Debug, Default, PartialEq)]
struct Weights {
    labels: usize,
    scales: Vec<f32>,
    cells: Vec<i8>,
}

impl Weights {
    fn from_rows(labels: usize, dense: &[f32]) -> Self {
        let mut weights = Self {
            labels,
            ..Self::default()
        };
        for row in dense.chunks(labels) {
            let most = row.iter().fold(0.0_f32, |most, cell| most.max(cell.abs()));
            let scale = most / 127.0;
            weights.scales.push(scale);
            weights.cells.extend(
                row.iter()
                    .map(|cell| if scale > 0.0 { (cell / scale).round() as i8 } else { 0 }),
            );
        }
        weights
    }

    fn add_row(&self, row: usize, value: f32, to: &mut [f32]) {
        let factor = value * self.scales[row];
        let cells = &self.cells[row * self.labels..(row + 1) * self.labels];
        for (sum, cell) in to.iter_mut().zip(cells) {
            *sum += factor * f32::from(*cell);
        }
    }
}

/// Scales and cells as hexadecimal text: JSON numbers would take four times as much.
#[derive(Serialize, Deserialize)]
struct Packed {
    labels: usize,
    scales: Vec<f32>,
    cells: String,
}

impl Serialize for Weights {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let bytes: Vec<u8> = self.cells.iter().map(|cell| cell.to_ne_bytes()[0]).collect();
        Packed {
            labels: self.labels,
            scales: self.scales.clone(),
            cells: hex::encode(bytes),
        }
        .serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Weights {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let packed = Packed::deserialize(deserializer)?;
        let bytes = hex::decode(&packed.cells).map_err(serde::de::Error::custom)?;
        if bytes.len() != packed.labels * packed.scales.len() {
            return Err(serde::de::Error::custom("the classifier's weights are incomplete"));
        }
        let cells = bytes.into_iter().map(|byte| i8::from_ne_bytes([byte])).collect();
        Ok(Self {
            labels: packed.labels,
            scales: packed.scales,
            cells,
        })
    }
}

/// Labels in the order of their names, and each example's place among them.
fn label_places(examples: &[Example<'_>]) -> (Vec<String>, Vec<usize>) {
    let mut labels: Vec<String> = examples.iter().map(|example| example.label.to_owned()).collect();
    labels.sort();
    labels.dedup();
    let places: HashMap<&str, usize> = labels
        .iter()
        .enumerate()
        .map(|(at, label)| (label.as_str(), at))
        .collect();
    let targets = examples.iter().map(|example| places[example.label]).collect();
    (labels, targets)
}

#[cfg(test)]
mod tests {
    use super::{Classifier, Example};

    const TEXTS: [(&str, &str); 12] = [
        ("the kettle leaks water", "kettle"),
        ("my kettle does not boil", "kettle"),
        ("kettle lid is loose", "kettle"),
        ("boiling takes too long in the kettle", "kettle"),
        ("the lamp flickers at night", "lamp"),
        ("my lamp is too dark", "lamp"),
        ("lamp switch is stuck", "lamp"),
        ("bulb of the lamp is gone", "lamp"),
        ("茶壶漏水", "kettle"),
        ("茶壶不加热", "kettle"),
        ("台灯不亮", "lamp"),
        ("台灯闪烁", "lamp"),
    ];

    fn examples() -> Vec<Example<'static>> {
        TEXTS
            .iter()
            .map(|(text, label)| Example {
                text,
                label,
                weight: 1.0,
            })
            .collect()
    }

    fn best(classifier: &Classifier, text: &str) -> String {
        classifier.predict(text)[0].0.clone()
    }

    #[test]
    fn it_learns_from_examples_in_any_script() {
        let classifier = Classifier::train(&examples()).expect("two labels");
        for (text, label) in [
            ("kettles leaking", "kettle"),
            ("the lamps flicker", "lamp"),
            ("茶壶坏了漏水", "kettle"),
            ("台灯坏了", "lamp"),
        ] {
            assert_eq!(best(&classifier, text), label, "{text}");
        }
        let sum: f64 = classifier.predict("kettle").iter().map(|(_, p)| p).sum();
        assert!((sum - 1.0).abs() < 1e-6);
    }

    #[test]
    fn the_same_examples_give_the_same_classifier() {
        assert_eq!(Classifier::train(&examples()), Classifier::train(&examples()));
    }

    #[test]
    fn the_artifact_survives_json() {
        let classifier = Classifier::train(&examples()).expect("two labels");
        let text = serde_json::to_string(&classifier).expect("JSON");
        let back: Classifier = serde_json::from_str(&text).expect("the same JSON");
        assert_eq!(back.predict("a lamp"), classifier.predict("a lamp"));
        assert!(serde_json::from_str::<Classifier>(&text.replacen("\"cells\":\"", "\"cells\":\"00", 1)).is_err());
    }

    #[test]
    fn a_heavier_example_outweighs_a_lighter_one() {
        let mut all = examples();
        all.push(Example {
            text: "the thermos",
            label: "lamp",
            weight: 1.0,
        });
        all.push(Example {
            text: "the thermos",
            label: "kettle",
            weight: 6.0,
        });
        let classifier = Classifier::train(&all).expect("two labels");
        assert_eq!(best(&classifier, "the thermos"), "kettle");
    }

    #[test]
    fn one_label_is_nothing_to_tell_apart() {
        assert_eq!(Classifier::train(&examples()[..4]), None);
        assert_eq!(Classifier::train(&[]), None);
    }
}

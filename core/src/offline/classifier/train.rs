//! A linear machine for each label, trained side by side in a fixed number of passes and a fixed order, and the
//! temperature that makes a softmax over their scores honest.

use super::features::{Grams, Vocabulary, grams};
use super::{Classifier, Example, Held, Weights, label_places, log_softmax};

/// Passes over the examples; the dual is close to its end before.
const PASSES: usize = 14;
/// A few tell the temperature well enough.
const PASSES_TO_HOLD: usize = 4;
/// How dear an example on the wrong side is: higher fits closer.
const COST: f32 = 0.7;
/// From this many examples on a tenth is set aside to measure the temperature; with fewer, every one has its turn in one
/// of a few rounds, and below the least there is nothing to measure.
const MANY_TO_HOLD: usize = 2_000;
const LEAST_TO_HOLD: usize = 20;
const ROUNDS: usize = 5;
const CAUTIOUS: f32 = 0.5;
/// A n-gram of one text says nothing of others, once there are others enough.
const MANY: usize = 2_000;
/// Features beyond this are dropped, rarest first: long texts have no end of n-grams.
const MOST_FEATURES: usize = 300_000;

pub(super) fn train(examples: &[Example<'_>], known: usize) -> Option<(Classifier, Vec<Held>)> {
    let used: Vec<(usize, Example<'_>)> = examples
        .iter()
        .copied()
        .enumerate()
        .filter(|(_, example)| example.weight > 0.0)
        .collect();
    let (places, examples): (Vec<usize>, Vec<Example<'_>>) = used.into_iter().unzip();
    let (labels, targets) = label_places(&examples);
    if labels.len() < 2 {
        return None;
    }
    let texts: Vec<Grams> = examples.iter().map(|example| grams(example.text)).collect();
    let vocabulary = Vocabulary::of(&texts, if texts.len() >= MANY { 2 } else { 1 }, MOST_FEATURES);
    let rows: Vec<Row> = examples
        .iter()
        .zip(&texts)
        .zip(&targets)
        .zip(&places)
        .map(|(((example, text), target), place)| Row {
            features: vocabulary.features(text),
            target: *target,
            weight: example.weight,
            place: *place,
        })
        .collect();
    let scored = hold(&rows, known, vocabulary.len(), labels.len());
    let temperature = temperature(&scored);
    let held = scored
        .iter()
        .map(|(row, scores)| Held {
            example: row.place,
            log_probabilities: log_softmax(scores, temperature),
        })
        .collect();
    let every: Vec<&Row> = rows.iter().collect();
    let (dense, bias) = fit(&every, vocabulary.len(), labels.len(), PASSES);
    let classifier = Classifier {
        temperature,
        weights: Weights::from_rows(labels.len(), &dense),
        labels,
        vocabulary,
        bias,
    };
    Some((classifier, held))
}

struct Row {
    features: Vec<(u32, f32)>,
    target: usize,
    weight: f32,
    /// Among the examples as they were given.
    place: usize,
}

/// Dual coordinate descent for one-against-the-rest with squared hinge loss, all labels side by side: their problems are
/// independent but share the texts. (Hsieh et al., "A dual coordinate descent method for large-scale linear SVM", 2008.)
fn fit(rows: &[&Row], features: usize, labels: usize, passes: usize) -> (Vec<f32>, Vec<f32>) {
    let mut weights = vec![0.0_f32; features * labels];
    let mut bias = vec![0.0_f32; labels];
    let mut duals = vec![0.0_f32; rows.len() * labels];
    let mut sums = vec![0.0_f32; labels];
    let mut moves: Vec<(usize, f32)> = Vec::with_capacity(labels);
    for pass in 0..passes {
        for at in order(rows.len(), pass) {
            let row = rows[at];
            scores(row, &weights, &bias, &mut sums);
            let slack = 0.5 / (COST * row.weight);
            // Texts that can be told apart by some word of their own are all fitted, whatever their weight in the loss; so
            // a weightier one is also asked to stand further on its side, which is what its common words then carry.
            let margin = row.weight.sqrt().clamp(0.2, 2.0);
            let curve = 1.0 + row.features.iter().map(|(_, value)| value * value).sum::<f32>() + slack;
            moves.clear();
            for (label, (sum, dual)) in sums.iter().zip(&mut duals[at * labels..(at + 1) * labels]).enumerate() {
                let side = if label == row.target { 1.0 } else { -1.0 };
                let moved = (*dual - (side * sum - margin + slack * *dual) / curve).max(0.0);
                let step = moved - *dual;
                if step.abs() > 1e-5 {
                    *dual = moved;
                    moves.push((label, side * step));
                }
            }
            for (label, step) in &moves {
                bias[*label] += step;
            }
            for (feature, value) in &row.features {
                let start = *feature as usize * labels;
                let cells = &mut weights[start..start + labels];
                for (label, step) in &moves {
                    cells[*label] += value * step;
                }
            }
        }
    }
    (weights, bias)
}

fn scores(row: &Row, weights: &[f32], bias: &[f32], out: &mut [f32]) {
    out.copy_from_slice(bias);
    let labels = bias.len();
    for (feature, value) in &row.features {
        let at = *feature as usize * labels;
        for (score, weight) in out.iter_mut().zip(&weights[at..at + labels]) {
            *score += value * weight;
        }
    }
}

/// A walk through all places in leaps, so that examples that came sorted by label are mixed, and differently each pass.
fn order(n: usize, pass: usize) -> impl Iterator<Item = usize> {
    const PRIMES: [usize; 5] = [7919, 104_729, 15_485_863, 32_452_843, 49_979_687];
    let leap = PRIMES
        .iter()
        .cycle()
        .skip(pass)
        .copied()
        .find(|prime| !prime.is_multiple_of(n))
        .unwrap_or(1);
    (0..n).scan(pass % n, move |at, _| {
        let here = *at;
        *at = (*at + leap) % n;
        Some(here)
    })
}

/// Scores of rows by classifiers that were trained without them.
fn hold(rows: &[Row], known: usize, features: usize, labels: usize) -> Vec<(&Row, Vec<f32>)> {
    let free = rows.iter().filter(|row| row.place >= known).count();
    if free < LEAST_TO_HOLD {
        return Vec::new();
    }
    let (parts, rounds) = if free >= MANY_TO_HOLD {
        (10, 1)
    } else {
        (ROUNDS, ROUNDS)
    };
    let mut out = Vec::new();
    for round in 0..rounds {
        let (held, kept): (Vec<&Row>, Vec<&Row>) = rows
            .iter()
            .partition(|row| row.place >= known && (row.place - known) % parts == round);
        let (weights, bias) = fit(&kept, features, labels, PASSES_TO_HOLD);
        for row in held {
            let mut scores = vec![0.0; labels];
            self::scores(row, &weights, &bias, &mut scores);
            out.push((row, scores));
        }
    }
    out
}

/// The temperature at which the labels of the held rows are likeliest.
fn temperature(scored: &[(&Row, Vec<f32>)]) -> f32 {
    if scored.is_empty() {
        return CAUTIOUS;
    }
    let loss = |temperature: f32| -> f64 {
        scored
            .iter()
            .map(|(row, scores)| -log_softmax(scores, temperature)[row.target])
            .sum()
    };
    let mut best = (f64::MAX, CAUTIOUS);
    for step in 0..40 {
        let temperature = 0.05 * 1.12_f32.powi(step);
        let loss = loss(temperature);
        if loss < best.0 {
            best = (loss, temperature);
        }
    }
    best.1
}

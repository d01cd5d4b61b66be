//! Search in many articles: how long the slowest of twenty takes.

use std::time::Instant;

use deskhand_adapters::postgres::search::{self, Entry, Kind};

use crate::cluster::Cluster;
use crate::meter::{milliseconds, percentile};
use crate::report::{Goal, Report, Row};

pub(crate) async fn measure(cluster: &Cluster, report: &mut Report) -> anyhow::Result<()> {
    let articles = report.size(2_000, 100_000);
    let queries = report.size(50, 1_000);
    let database = cluster.fresh("search").await?;
    let pool = database.pool(4).await?;
    let mut words = Words::new(7);
    let texts: Vec<(String, String)> = (0..articles).map(|_| (words.some(6), words.some(90))).collect();
    // The index is made in one go at the end, as an import of this size would be restored.
    sqlx::query("DROP INDEX document_tokens").execute(&pool).await?;
    for (chunk, some) in texts.chunks(1_000).enumerate() {
        let keys: Vec<String> = (0..some.len()).map(|n| format!("article-{chunk}-{n}")).collect();
        let entries: Vec<Entry<'_>> = some
            .iter()
            .zip(&keys)
            .map(|((title, body), key)| Entry {
                key,
                title,
                section: "",
                body,
                language: "en",
            })
            .collect();
        let mut tx = pool.begin().await?;
        search::put(&mut tx, Kind::Article, &entries).await?;
        tx.commit().await?;
    }
    sqlx::query("CREATE INDEX document_tokens ON document USING gin (tokens) WITH (fastupdate = off)")
        .execute(&pool)
        .await?;
    for statement in ["VACUUM ANALYZE document", "VACUUM ANALYZE token"] {
        sqlx::query(statement).execute(&pool).await?;
    }
    let mut times = Vec::new();
    let mut found = 0;
    for n in 0..queries {
        // As customers ask: a few words out of one article, and some that every other article has.
        let (title, body) = &texts[(n * 7919) % texts.len()];
        let some =
            |text: &str, from: usize, many: usize| text.split(' ').skip(from).take(many).collect::<Vec<_>>().join(" ");
        let query = format!("{} {} {}", some(title, 1, 2), some(body, n % 60, 3), words.some(2));
        let start = Instant::now();
        let hits = search::search(&pool, Kind::Article, &query, None, 5).await?;
        times.push(milliseconds(start.elapsed()));
        found += usize::from(!hits.is_empty());
    }
    pool.close().await;
    anyhow::ensure!(
        found * 10 >= queries * 9,
        "only {found} of {queries} queries found something"
    );
    for (share, name) in [(0.5, "p50"), (0.95, "p95")] {
        let goals = share > 0.9;
        report.row(Row {
            what: format!("search in {articles} articles, {name}"),
            ours: percentile(&mut times, share),
            unit: "ms",
            against: None,
            must: if goals { Goal::AtMost(20.0) } else { Goal::None },
            aim: if goals { Goal::AtMost(5.0) } else { Goal::None },
        });
    }
    Ok(())
}

/// Words as texts have them: a few stand everywhere, most are rare.
struct Words {
    state: u64,
}

impl Words {
    const KNOWN: f64 = 30_000.0;

    fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    fn fraction(&mut self) -> f64 {
        // Knuth's constants; the same texts every time.
        self.state = self
            .state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.state >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Zipf's law: the n-th word comes about 1/n as often as the first.
    fn word(&mut self) -> String {
        let rank = Self::KNOWN.powf(self.fraction()) as u64;
        let syllables = [
            "ka", "lo", "mi", "ne", "ru", "ta", "vo", "si", "pe", "du", "gra", "bel", "tor", "fin", "zu", "hem",
        ];
        let mut number = rank * 2_654_435_761 % 1_048_576;
        let mut word = String::new();
        for _ in 0..4 {
            word.push_str(syllables[(number % 16) as usize]);
            number /= 16;
        }
        word
    }

    fn some(&mut self, many: usize) -> String {
        (0..many).map(|_| self.word()).collect::<Vec<_>>().join(" ")
    }
}

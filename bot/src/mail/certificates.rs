//! The certificates that SNS signs with, fetched once from SNS itself.
//!
//! The one thing besides a chat's forms that a handler waits for: without it nothing can be said of a delivery. Only
//! addresses of SNS's own hosts get here (`signature::sns_certificate_url`), and no redirect is followed.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::RwLock;

/// SNS has a handful; more is somebody's game.
const MOST: usize = 64;
/// A certificate has two kilobytes.
const LARGEST: usize = 64 * 1024;

#[derive(Default)]
pub struct Certificates {
    by_url: RwLock<BTreeMap<String, Arc<str>>>,
}

impl Certificates {
    pub async fn get(&self, url: &str) -> Result<Arc<str>, String> {
        if let Some(known) = self.by_url.read().await.get(url) {
            return Ok(Arc::clone(known));
        }
        let pem = fetch(url)
            .await
            .map_err(|error| format!("SNS's certificate could not be fetched: {error}"))?;
        self.put(url, &pem).await;
        Ok(pem.into())
    }

    /// One that is known beforehand.
    pub async fn put(&self, url: &str, pem: &str) {
        let mut by_url = self.by_url.write().await;
        if by_url.len() < MOST {
            by_url.insert(url.to_owned(), pem.into());
        }
    }
}

async fn fetch(url: &str) -> Result<String, String> {
    let response = client()?.get(url).send().await.map_err(plain)?;
    let response = response.error_for_status().map_err(plain)?;
    let bytes = response.bytes().await.map_err(plain)?;
    if bytes.len() > LARGEST {
        return Err("it is too large".to_owned());
    }
    String::from_utf8(bytes.to_vec()).map_err(|_| "it is no text".to_owned())
}

fn client() -> Result<reqwest::Client, String> {
    reqwest::Client::builder()
        .timeout(Duration::from_secs(5))
        .redirect(reqwest::redirect::Policy::none())
        .build()
        .map_err(plain)
}

fn plain(error: reqwest::Error) -> String {
    error.without_url().to_string()
}

/// Opens the address by which a topic is subscribed to. Asked by a worker.
pub(crate) async fn confirm(url: &str) -> anyhow::Result<()> {
    anyhow::ensure!(
        deskhand_adapters::signature::sns_path(url).is_some(),
        "the address for confirming is not one of SNS"
    );
    let client = client().map_err(anyhow::Error::msg)?;
    let answered = client
        .get(url)
        .send()
        .await
        .and_then(reqwest::Response::error_for_status);
    answered.map_err(|error| anyhow::anyhow!("SNS did not confirm: {}", plain(error)))?;
    Ok(())
}

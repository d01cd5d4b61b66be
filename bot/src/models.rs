//! The models that may be asked: the chosen one, then its substitutes, each behind its provider's circuit breaker.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use chrono::{DateTime, Utc};
use deskhand_core::port::Model;
use deskhand_core::retry::Breaker;

/// Makes a model by its name, `anthropic:…`, `openai:…`, `offline`. The error is one sentence.
pub type Make = Arc<dyn Fn(&str) -> anyhow::Result<Arc<dyn Model>> + Send + Sync>;

pub struct Models {
    /// The settings' choice, then what takes over, in order.
    chain: Vec<Arc<dyn Model>>,
    make: Make,
    /// What an admin chose at run time, by its name.
    chosen: Mutex<Option<Arc<dyn Model>>>,
    breakers: Mutex<HashMap<String, Breaker>>,
}

impl Models {
    pub fn new(first: Arc<dyn Model>, substitutes: Vec<Arc<dyn Model>>, make: Make) -> Self {
        let mut chain = vec![first];
        chain.extend(substitutes);
        Self {
            chain,
            make,
            chosen: Mutex::default(),
            breakers: Mutex::default(),
        }
    }

    /// The model that is asked first.
    pub fn first(&self) -> Arc<dyn Model> {
        let chosen = lock(&self.chosen).clone();
        chosen.unwrap_or_else(|| Arc::clone(&self.chain[0]))
    }

    /// The first one and its substitutes, none twice.
    pub fn in_order(&self) -> Vec<Arc<dyn Model>> {
        let first = self.first();
        let others = self.chain.iter().filter(|model| model.name() != first.name()).cloned();
        std::iter::once(Arc::clone(&first)).chain(others).collect()
    }

    /// Whether a name can be chosen; makes nothing that is asked yet.
    pub fn can(&self, name: &str) -> anyhow::Result<Arc<dyn Model>> {
        match self.chain.iter().find(|model| model.name() == name) {
            Some(model) => Ok(Arc::clone(model)),
            None => (self.make)(name),
        }
    }

    /// Takes an admin's choice, as the table of settings has it; `None` goes back to the settings' own. A choice that
    /// this process cannot make is logged and left.
    pub fn choose(&self, name: Option<&str>) {
        let mut chosen = lock(&self.chosen);
        match name {
            None => *chosen = None,
            Some(name) if chosen.as_ref().is_some_and(|model| model.name() == name) => {}
            Some(name) => match self.can(name) {
                Ok(model) => *chosen = Some(model),
                Err(error) => tracing::warn!(%name, %error, "the chosen model cannot be used here"),
            },
        }
    }

    /// Whether a model's provider may be asked now; `Err` with how long it rests still, and for how long it has failed.
    pub fn admit(&self, model: &dyn Model, now: DateTime<Utc>) -> Result<(), Resting> {
        let mut breakers = lock(&self.breakers);
        let breaker = breakers.entry(provider(model)).or_default();
        breaker.admit(now).map_err(|until| Resting {
            rest: (until - now).to_std().unwrap_or_default(),
            down_for: breaker.down_for(now),
        })
    }

    pub fn succeeded(&self, model: &dyn Model) {
        lock(&self.breakers).remove(&provider(model));
    }

    pub fn failed(&self, model: &dyn Model, now: DateTime<Utc>, told: Option<Duration>) {
        lock(&self.breakers)
            .entry(provider(model))
            .or_default()
            .failed(now, told);
    }

    /// Providers that are left alone just now, with until when, for `status` and `doctor`.
    pub fn resting(&self, now: DateTime<Utc>) -> Vec<(String, DateTime<Utc>)> {
        let mut resting: Vec<_> = lock(&self.breakers)
            .iter()
            .filter_map(|(provider, breaker)| Some((provider.clone(), breaker.open_until(now)?)))
            .collect();
        resting.sort();
        resting
    }
}

/// A provider that is left alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resting {
    pub rest: Duration,
    pub down_for: Duration,
}

fn provider(model: &dyn Model) -> String {
    let name = model.name();
    name.split_once(':').map_or(name, |(provider, _)| provider).to_owned()
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

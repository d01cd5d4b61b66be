//! Where a provider's endpoints are, from a base URL as people write it: with or without a slash at its end, the version
//! or even the endpoint. A query is kept (Azure wants its `api-version`).

use deskhand_core::port::ModelError;
use url::Url;

#[derive(Clone, Debug)]
pub(super) struct Base(Url);

impl Base {
    /// Anthropic's: `/v1` is appended where it is missing, since its own clients take bases without it.
    pub(super) fn anthropic(url: &Url) -> Result<Self, ModelError> {
        Self::new(url, "ANTHROPIC_BASE_URL", &["/messages", "/models"], |path| {
            !path.ends_with("/v1")
        })
    }

    /// OpenAI's: `/v1` is appended to a bare host only, since compatible services have all kinds of paths.
    pub(super) fn openai(url: &Url) -> Result<Self, ModelError> {
        Self::new(url, "OPENAI_BASE_URL", &["/chat/completions", "/models"], str::is_empty)
    }

    fn new(url: &Url, setting: &str, tails: &[&str], lacks_version: fn(&str) -> bool) -> Result<Self, ModelError> {
        if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none() {
            return Err(ModelError::Permanent {
                why: format!("{setting} is no http:// or https:// address."),
            });
        }
        let mut path = url.path().trim_end_matches('/');
        for tail in tails {
            path = path.strip_suffix(tail).unwrap_or(path);
        }
        let version = if lacks_version(path) { "/v1" } else { "" };
        let path = format!("{path}{version}");
        let mut url = url.clone();
        url.set_path(&path);
        url.set_fragment(None);
        Ok(Self(url))
    }

    pub(super) fn endpoint(&self, tail: &str) -> Url {
        let mut url = self.0.clone();
        url.set_path(&format!("{}/{tail}", self.0.path()));
        url
    }

    pub(super) fn host_is_or_ends_with(&self, host: &str, suffix: &str) -> bool {
        self.0
            .host_str()
            .is_some_and(|own| own == host || own.ends_with(suffix))
    }
}

#[cfg(test)]
mod tests {
    use super::Base;

    #[track_caller]
    fn check(base: Result<Base, deskhand_core::port::ModelError>, tail: &str, expected: &str) {
        assert_eq!(base.expect("a base").endpoint(tail).as_str(), expected);
    }

    #[test]
    fn an_anthropic_base_is_taken_as_people_write_it() {
        for base in [
            "https://api.anthropic.com",
            "https://api.anthropic.com/",
            "https://api.anthropic.com/v1/messages/",
        ] {
            let base = Base::anthropic(&base.parse().expect("a URL"));
            check(base, "messages", "https://api.anthropic.com/v1/messages");
        }
        let proxied = Base::anthropic(&"http://gate:8080/anthropic/".parse().expect("a URL"));
        check(proxied, "models", "http://gate:8080/anthropic/v1/models");
    }

    #[test]
    fn an_openai_base_is_taken_as_people_write_it() {
        for (base, expected) in [
            ("https://api.openai.com", "https://api.openai.com/v1/chat/completions"),
            (
                "https://api.openai.com/v1/",
                "https://api.openai.com/v1/chat/completions",
            ),
            (
                "http://localhost:11434/v1/chat/completions",
                "http://localhost:11434/v1/chat/completions",
            ),
            ("https://host/api/v3", "https://host/api/v3/chat/completions"),
            (
                "https://x.openai.azure.com/openai/deployments/d?api-version=2024-10-21",
                "https://x.openai.azure.com/openai/deployments/d/chat/completions?api-version=2024-10-21",
            ),
        ] {
            check(
                Base::openai(&base.parse().expect("a URL")),
                "chat/completions",
                expected,
            );
        }
    }

    #[test]
    fn what_is_no_web_address_names_the_setting() {
        let error = Base::openai(&"file:///tmp".parse().expect("a URL")).expect_err("no web address");
        assert!(error.to_string().contains("OPENAI_BASE_URL"), "{error}");
    }
}

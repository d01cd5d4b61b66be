//! Playbooks: front matter and body.

//! The grammar of `/triage`, shared by every surface.

//! Embedded Postgres for newcomers and tests.

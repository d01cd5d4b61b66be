//! A throw-away Postgres, and a fresh database for every test.

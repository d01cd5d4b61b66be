//! History repair before every model request.

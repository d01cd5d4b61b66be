//! What is told to a model, as text: ours plain, other people's fenced.

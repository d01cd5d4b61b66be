mod own;
mod shape;
mod shared;

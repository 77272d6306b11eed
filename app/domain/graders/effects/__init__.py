"""Parts of graders that decide nothing: constant scores, and samples that nothing reads."""

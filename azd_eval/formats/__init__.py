"""Read and write the files people own."""

"""Benchmarks in pytest that remember their earlier runs. Importing this imports nothing else."""

"""Benchmarks in pytest that remember their earlier runs. This module imports nothing else."""

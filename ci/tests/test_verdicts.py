"""ci/verdicts/matrix.py: the limits of wrong verdicts."""

import math
import pathlib
import sys
import unittest
from unittest import mock

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "verdicts"))
sys.dont_write_bytecode = True
import matrix  # noqa: E402


class Limits(unittest.TestCase):
    def test_few_runs(self):
        """More than the limit is less probable than CHANCE, and the limit itself is not. Every cell can fail."""
        with mock.patch.object(matrix, "RUNS", 5):
            runs = [*{(n, matrix.MISSED if cell.kind == "planted" else matrix.EQUAL) for cell, n in matrix.cells()}]
            self.assertTrue(all(matrix.limit(n, share, 1) < n for n, share in runs), runs)
            self.assertEqual(matrix.limit(2, matrix.MISSED, 1), 2)
            for n, share in [*runs, (30, 0.05), (110, 0.01), (200, 0.05)]:
                more = [math.fsum(math.comb(n, i) * share**i * (1 - share) ** (n - i) for i in range(k, n + 1)) for k in range(n + 2)]
                self.assertEqual(matrix.limit(n, share, 1), next(k for k in range(n) if more[k + 1] < matrix.CHANCE), (n, share))
            self.assertEqual([matrix.limit(n, 0.05, 1) for n in (1, 0)], [1, 0])
            for n in (1_030, 10_000):
                self.assertTrue(n * 0.05 < matrix.limit(n, 0.05, 1) < n * 0.05 + 6 * math.sqrt(n * 0.05))

    def test_many_runs(self):
        """As docs/numbers.md prints them."""
        with mock.patch.object(matrix, "RUNS", 200):
            found = {(cell.kind, cell.budget, n, matrix.limit(n, 0, cell.bar)) for cell, n in matrix.cells()}
        self.assertEqual(found, {("equal", 0.2, 200, 8), ("equal", 5.0, 20, 2), ("planted", 1.0, 100, 10), ("programs", 2.0, 100, 10)})


if __name__ == "__main__":
    unittest.main()

"""ffi/describe/compatible.py finds changes of the C interface that break programs, and accepts additions."""

import copy
import json
import pathlib
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "ffi" / "describe"))
sys.dont_write_bytecode = True
import compatible  # noqa: E402

NOW = json.loads((ROOT / "ffi" / "picollo.abi.json").read_text(encoding="utf-8"))


class Compatible(unittest.TestCase):
    def setUp(self):
        self.new = copy.deepcopy(NOW)

    def one(self, kind, name):
        return next(one for one in self.new[kind] if one["name"] == name)

    def breaks(self):
        return compatible.breaks(NOW, self.new)

    def test_the_interface_is_compatible_with_itself(self):
        self.assertEqual(self.breaks(), [])

    def test_a_wider_parameter_is_found(self):
        self.one("functions", "picollo_clock_frequency")["parameters"][0] = "uint64_t clock"
        self.assertIn("picollo_clock_frequency: its parameters", self.breaks()[0])

    def test_another_returned_type_is_found(self):
        self.one("functions", "picollo_clock_ticks")["returns"] = "uint32_t"
        self.assertIn("picollo_clock_ticks: what it returns", self.breaks()[0])

    def test_a_function_that_is_gone_is_found(self):
        self.new["functions"].remove(self.one("functions", "picollo_abi_version"))
        self.assertEqual(self.breaks(), ["picollo_abi_version is gone"])

    def test_a_narrower_field_is_found(self):
        self.one("structs", "picollo_counts")["fields"][-1] = "uint32_t lost"
        self.assertIn("picollo_counts: its fields", self.breaks()[0])

    def test_a_renumbered_constant_is_found(self):
        group = next(one["values"] for one in self.new["constants"] if one["group"] == "STATUS")
        group["PICOLLO_ERR_BUSY"] = -16
        self.assertEqual(self.breaks(), ["PICOLLO_ERR_BUSY: what it is was -14 and is -16"])

    def test_a_field_may_be_added_to_options_only_and_at_their_end_only(self):
        options = next(one for one in self.new["structs"] if "initialiser" in one)
        options["fields"].append("uint64_t added")
        self.assertEqual(self.breaks(), [])
        options["fields"].insert(0, options["fields"].pop())
        self.assertIn(f"{options['name']}: its fields", self.breaks()[0])

        self.setUp()
        self.one("structs", "picollo_counts")["fields"].append("uint64_t added")
        self.assertIn("picollo_counts: its fields", self.breaks()[0])

    def test_an_added_function_and_constant_pass(self):
        self.new["functions"].append(dict(self.new["functions"][0], name="picollo_added"))
        self.new["constants"][0]["values"]["PICOLLO_ADDED"] = 1
        self.assertEqual(self.breaks(), [])


if __name__ == "__main__":
    unittest.main()

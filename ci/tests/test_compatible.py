"""ffi/describe/compatible.py finds changes of the C interface that break programs, and accepts additions."""

import copy
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "ffi" / "describe"))
sys.dont_write_bytecode = True
import compatible  # noqa: E402

ABI = ROOT / "ffi" / "picollo.abi.json"
NOW = json.loads(ABI.read_text(encoding="utf-8"))
OPTIONS = next(one["name"] for one in NOW["structs"] if "initialiser" in one)


def add_field(struct):
    struct["fields"].append("uint64_t added")


#: Table, name, change, and the beginning of the report.
CHANGES = [
    ("functions", "picollo_clock_frequency", lambda one: one["parameters"].__setitem__(0, "uint64_t clock"), "picollo_clock_frequency: its parameters"),
    ("functions", "picollo_clock_ticks", lambda one: one.update(returns="uint32_t"), "picollo_clock_ticks: what it returns"),
    ("functions", "picollo_abi_version", lambda one: one.update(name="picollo_other"), "picollo_abi_version is gone"),
    ("structs", "picollo_counts", lambda one: one["fields"].__setitem__(-1, "uint32_t lost"), "picollo_counts: its fields"),
    ("structs", "picollo_counts", add_field, "picollo_counts: its fields"),
    ("structs", OPTIONS, lambda one: one["fields"].insert(0, one["fields"].pop()), f"{OPTIONS}: its fields"),
    ("constants", "STATUS", lambda one: one["values"].update(PICOLLO_ERR_BUSY=-16), "PICOLLO_ERR_BUSY: what it is was -14 and is -16"),
    # These are compatible.
    ("structs", OPTIONS, add_field, ""),
    ("constants", "STATUS", lambda one: one["values"].update(PICOLLO_ADDED=1), ""),
    ("functions", "", lambda _: None, ""),
]


class Compatible(unittest.TestCase):
    def test_changes(self):
        for table, name, change, expected in CHANGES:
            with self.subTest(f"{name}: {expected}"):
                new = copy.deepcopy(NOW)
                new["functions"].append(dict(new["functions"][0], name="picollo_added"))
                for one in new[table]:
                    if name in (one.get("name"), one.get("group")):
                        change(one)
                found = compatible.breaks(NOW, new)
                self.assertEqual(len(found), bool(expected), found)
                self.assertTrue(not expected or found[0].startswith(expected), found)

    def test_another_number_allows_everything(self):
        older, gone = copy.deepcopy(NOW), dict(NOW, functions=[])
        for one in older["constants"]:
            if "PICOLLO_ABI_VERSION" in one["values"]:
                one["values"]["PICOLLO_ABI_VERSION"] -= 1
        self.assertEqual(compatible.breaks(older, gone), [])
        self.assertTrue(compatible.breaks(gone, older))

    def test_an_incompatible_change_fails(self):
        with tempfile.TemporaryDirectory() as directory:
            fewer = pathlib.Path(directory, "fewer.json")
            fewer.write_text(json.dumps(dict(NOW, functions=NOW["functions"][1:])), encoding="utf-8")
            for old, new, status in [(fewer, ABI, 0), (ABI, fewer, 1)]:
                command = [sys.executable, compatible.__file__, old, new]
                found = subprocess.run(command, capture_output=True, text=True)
                self.assertEqual(found.returncode, status, found.stdout)


if __name__ == "__main__":
    unittest.main()

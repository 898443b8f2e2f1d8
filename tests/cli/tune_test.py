"""samesum tune: what it writes and prints, and refusals. Speed is not tested."""
import json
import struct
import unittest

from support.program import Case


class Tune(Case):
    def setUp(self):
        super().setUp()
        self.file = self.path("tuning.json")

    def device(self):
        """The first device that runs kernels."""
        for device in self.json("devices")["devices"]:
            if "kernels" not in device["missing"]:
                return device["selector"]
        self.skipTest("no device that runs kernels")

    def test_devices_without_kernels_are_refused(self):
        self.assertIn("runs no kernels", self.refuse("tune", "--device", "cpu", "--seconds", "1"))

    def test_bad_options(self):
        device = self.device()
        self.assertIn("take sum, dot or extrema", self.refuse("tune", "--device", device, "--operation", "mean", "--output", self.file))
        self.assertIn("--seconds", self.refuse("tune", "--device", device, "--seconds", "0"))
        with open(self.file, "w") as file:
            file.write("my letters")
        self.assertIn("remove it", self.refuse("tune", "--device", device, "--output", self.file, "--seconds", "1"))
        with open(self.file) as file:
            self.assertEqual(file.read(), "my letters")

    def test_writes_shows_and_resets(self):
        device = self.device()
        found = self.json("tune", "--device", device, "--operation", "extrema", "--dtype", "float32", "--size", "4K", "--seconds", "10",
                          "--output", self.file)  # on a loaded machine the first build alone takes a second
        self.assertEqual([(row["operation"], row["type"], row["bytes"], row["wrong"]) for row in found["rows"]],
                         [("extrema", "float32", 4096, "")])
        self.assertGreater(found["rows"][0]["candidates"], 0)
        with open(self.file) as file:
            tables = json.load(file)["tables"]
        self.assertEqual(len(tables), 1)
        shown = self.json("tune", "--device", device, "--show", environment={"SAMESUM_TUNING": self.file})
        self.assertEqual(shown["file"], self.file)
        self.assertEqual(shown["tables"][0]["match"], "device")
        self.succeed("tune", "--device", device, "--reset", "--output", self.file)
        with open(self.file) as file:
            self.assertEqual(json.load(file)["tables"], [])

    def test_records_of_a_kind_are_a_table_of_the_library(self):
        device = self.device()
        name = next(one for one in self.json("devices")["devices"] if one["selector"] == device)["name"]
        few = ("tune", "--device", device, "--operation", "extrema", "--dtype", "float32", "--size", "4K", "--seconds", "1")
        self.assertIn("does not contain 'H1000'", self.refuse(*few, "--kind", "H1000", "--output", self.file))
        self.assertIn("name one", self.refuse(*few, "--kind", "generic"))
        for kind, names in ((name[:3], [name[:3]]), ("generic", None)):
            self.succeed(*few, "--kind", kind, "--output", self.file)
            with open(self.file) as file:
                table = next(one for one in json.load(file)["tables"] if one["kind"] == kind)
            self.assertNotIn("device", table)
            self.assertEqual(table.get("names"), names)

    def test_damaged_records_cost_no_answer(self):
        device = self.device()
        x = self.write("x.bin", struct.pack("<1000f", *(0.1 * (i % 7) * 10.0 ** (i % 30 - 15) for i in range(1000))))
        answers = {}
        for name, text in (("none", None), ("torn", '{"format": 1, "tables": [{"kind"'), ("empty", ""), ("binary", "\x00\x01{")):
            if text is not None:
                with open(self.file, "w") as file:
                    file.write(text)
            environment = {"SAMESUM_TUNING": self.path("removed.json") if text is None else self.file}
            answers[name] = self.succeed("stats", "--dtype", "float32", "--device", device, x, environment=environment)
            if text:
                self.assertIn("is not used", self.succeed("tune", "--device", device, "--show", environment=environment))
        self.assertEqual(len(set(answers.values())), 1, answers)
        self.assertEqual(answers["none"], self.succeed("stats", "--dtype", "float32", "--device", device, x,
                                                       environment={"SAMESUM_TUNING": "0"}))


if __name__ == "__main__":
    unittest.main()

"""tools/release.sh and sbom.py: checksums that hold, a signature where there is a key, and a bill of materials of what is in an archive."""
import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import tarfile
import tempfile
import unittest

SOURCE = pathlib.Path(__file__).resolve().parent.parent.parent


@unittest.skipUnless((SOURCE / "tools/release.sh").exists(), "releases are made in a checkout")
class Release(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.dist, self.home = self.folder / "dist", self.folder / "gpg"
        self.dist.mkdir()
        self.home.mkdir(mode=0o700)
        tree = self.folder / "samesum-1"
        (tree / "lib").mkdir(parents=True)
        (tree / "bin").mkdir()
        (tree / "bin/samesum").write_bytes(b"program")
        (tree / "lib/libtbb.so.12").write_bytes(b"library")
        (tree / "lib/libsamesum.so.0").write_bytes(b"own")
        with tarfile.open(self.dist / "samesum-1.tar.gz", "w:gz") as archive:
            archive.add(tree, "samesum-1")
        self.environment = dict(os.environ, GNUPGHOME=str(self.home), SOURCE_DATE_EPOCH="86400")

    def run_tool(self, *command, code=0, cwd=None):
        found = subprocess.run([str(one) for one in command], env=self.environment, cwd=cwd, capture_output=True, text=True, check=False)
        self.assertEqual(found.returncode, code, found.stdout + found.stderr)
        return found.stdout + found.stderr

    def test_without_a_key(self):
        self.assertIn("NOT SIGNED", self.run_tool(SOURCE / "tools/release.sh", self.dist))
        self.assertEqual(sorted(os.listdir(self.dist)), ["SHA256SUMS", "samesum-1.spdx.json", "samesum-1.tar.gz"])
        self.run_tool("sha256sum", "--check", "--strict", "SHA256SUMS", cwd=self.dist)
        sums = (self.dist / "SHA256SUMS").read_bytes()
        self.run_tool(SOURCE / "tools/release.sh", self.dist)
        self.assertEqual((self.dist / "SHA256SUMS").read_bytes(), sums, "twice the same")

        bill = json.loads((self.dist / "samesum-1.spdx.json").read_text())
        self.assertEqual((bill["spdxVersion"], bill["creationInfo"]["created"]), ("SPDX-2.3", "1970-01-02T00:00:00Z"))
        files = {file["fileName"]: file["checksums"][1]["checksumValue"] for file in bill["files"]}
        self.assertEqual(files["./bin/samesum"], hashlib.sha256(b"program").hexdigest())
        self.assertEqual(len(files), 3)
        comments = {package["name"]: package.get("comment", "") for package in bill["packages"]}
        self.assertIn("shared library: lib/libtbb.so.12", comments.values())
        self.assertNotIn("libsamesum", " ".join(comments.values()))
        self.assertIn("libcli11-dev", comments)
        identifiers = [one["SPDXID"] for one in bill["packages"] + bill["files"]]
        self.assertEqual(len(set(identifiers)), len(identifiers))
        for relation in bill["relationships"]:
            self.assertIn(relation["relatedSpdxElement"], identifiers)

    @unittest.skipIf(shutil.which("gpg") is None, "not installed: gpg")
    def test_with_a_key(self):
        self.run_tool("gpg", "--batch", "--passphrase", "", "--quick-generate-key", "samesum test <test@example.org>", "ed25519", "sign", "never")
        self.addCleanup(lambda: subprocess.run(["gpgconf", "--kill", "all"], env=self.environment, check=False))
        self.assertIn("signature SHA256SUMS.asc", self.run_tool(SOURCE / "tools/release.sh", self.dist))
        self.run_tool("gpg", "--batch", "--verify", "SHA256SUMS.asc", "SHA256SUMS", cwd=self.dist)
        with open(self.dist / "SHA256SUMS", "a", encoding="utf-8") as file:
            file.write("\n")
        self.run_tool("gpg", "--batch", "--verify", "SHA256SUMS.asc", "SHA256SUMS", cwd=self.dist, code=1)

    def test_nothing_to_release(self):
        (self.dist / "samesum-1.tar.gz").unlink()
        self.assertIn("has no archive (make dist)", self.run_tool(SOURCE / "tools/release.sh", self.dist, code=1))


if __name__ == "__main__":
    unittest.main()

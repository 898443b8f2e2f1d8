#!/usr/bin/env python3
"""sbom.py FOLDER: a software bill of materials (SPDX 2.3, JSON) of an unpacked archive of `make dist`, on standard output.

It names the archive's files with their SHA-256, the shared libraries in lib/ with the Debian package that each was taken from, and the packages
whose headers are compiled in. The output depends on nothing else but SOURCE_DATE_EPOCH, or the date of the latest commit.
"""
import datetime
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys

SOURCE = pathlib.Path(__file__).resolve().parent.parent
# Headers that become a part of the program or the library; packages of cmake/debian-packages.txt.
COMPILED_IN = ["libcli11-dev", "libfmt-dev", "nlohmann-json3-dev", "libfast-float-dev", "libhwy-dev", "libxxhash-dev", "opencl-c-headers"]


def output(*command):
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    return found.stdout.strip() if found.returncode == 0 else ""


def version_of(package):
    return output("dpkg-query", "-W", "-f=${Version}", package) or None


def package_of(library):
    """The Debian package of a shared library that is installed here under this name."""
    for line in output("/sbin/ldconfig", "-p").splitlines():
        if line.strip().startswith(library + " ") and "x86-64" in line:
            path = line.split("=> ")[1]
            for one in (path, os.path.realpath(path), os.path.realpath(path).replace("/usr/lib/", "/lib/", 1), path.replace("/lib/", "/usr/lib/", 1)):
                owner = output("dpkg", "-S", one)
                if owner:
                    return owner.split(":")[0]
    return None


def identifier(text):
    return "SPDXRef-" + re.sub(r"[^A-Za-z0-9.]", "-", text)


def package(name, version, comment):
    entry = {"SPDXID": identifier("Package-" + name), "name": name, "downloadLocation": "NOASSERTION", "filesAnalyzed": False, "comment": comment}
    if version:
        entry["versionInfo"] = version
        entry["externalRefs"] = [{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": f"pkg:deb/debian/{name}@{version}"}]
    return entry


def main():
    folder = pathlib.Path(sys.argv[1])
    if not folder.is_dir():
        sys.exit(f"{folder}: is no folder: give the unpacked archive")
    version = re.search(r'SAMESUM_VERSION "(.*)"', (SOURCE / "include/samesum/version.hpp").read_text())[1]
    seconds = int(os.environ.get("SOURCE_DATE_EPOCH") or output("git", "-C", str(SOURCE), "log", "-1", "--format=%ct") or 0)
    files, hashes = [], []
    for path in sorted(path for path in folder.rglob("*") if path.is_file() and not path.is_symlink()):
        content = path.read_bytes()
        name = "./" + path.relative_to(folder).as_posix()
        hashes.append(hashlib.sha1(content).hexdigest())
        files.append({"SPDXID": identifier("File-" + name), "fileName": name,
                      "checksums": [{"algorithm": "SHA1", "checksumValue": hashes[-1]},
                                    {"algorithm": "SHA256", "checksumValue": hashlib.sha256(content).hexdigest()}]})
    own = {"SPDXID": "SPDXRef-Package-samesum", "name": "samesum", "versionInfo": version, "downloadLocation": "NOASSERTION", "filesAnalyzed": True,
           "packageVerificationCode": {"packageVerificationCodeValue": hashlib.sha1("".join(sorted(hashes)).encode()).hexdigest()}}
    others = {}
    for library in sorted(path.name for path in (folder / "lib").glob("*.so*") if path.is_file() and not path.name.startswith("libsamesum")):
        name = package_of(library) or library
        others.setdefault(name, package(name, version_of(name), f"shared library: lib/{library}"))
    for name in COMPILED_IN:
        others.setdefault(name, package(name, version_of(name), "headers that are compiled in"))
    relations = [{"spdxElementId": "SPDXRef-DOCUMENT", "relationshipType": "DESCRIBES", "relatedSpdxElement": own["SPDXID"]}]
    relations += [{"spdxElementId": own["SPDXID"], "relationshipType": "CONTAINS", "relatedSpdxElement": file["SPDXID"]} for file in files]
    relations += [{"spdxElementId": own["SPDXID"], "relationshipType": "DEPENDS_ON", "relatedSpdxElement": one["SPDXID"]} for one in others.values()]
    document = {"spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": f"samesum-{version}",
                "documentNamespace": f"https://spdx.org/spdxdocs/samesum-{version}-{own['packageVerificationCode']['packageVerificationCodeValue']}",
                "creationInfo": {"created": datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
                                 "creators": ["Tool: tools/sbom.py"]},
                "packages": [own, *others.values()], "files": files, "relationships": relations}
    print(json.dumps(document, indent=1))


if __name__ == "__main__":
    main()

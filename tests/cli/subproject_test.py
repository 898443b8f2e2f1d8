"""samesum as a part of another CMake project, as FetchContent and add_subdirectory make it; and whom the presets are for."""
import json
import pathlib
import re
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]


def run(*command):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise AssertionError(f"{command}: {done.stdout}{done.stderr}")
    return done.stdout + done.stderr


@unittest.skipUnless((ROOT / "CMakeLists.txt").exists(), "there is no source tree")
class Subproject(unittest.TestCase):
    def test_the_library_alone_without_a_warning(self):
        with tempfile.TemporaryDirectory() as scratch:
            source, build = pathlib.Path(scratch) / "source", pathlib.Path(scratch) / "build"
            source.mkdir()
            (source / "CMakeLists.txt").write_text(f"""cmake_minimum_required(VERSION 3.22)
                project(user LANGUAGES CXX)
                include(FetchContent)
                FetchContent_Declare(samesum SOURCE_DIR "{ROOT}")
                FetchContent_MakeAvailable(samesum)
                add_executable(user main.cpp)
                target_compile_options(user PRIVATE -Wall -Wextra -Wsign-conversion -Weffc++ -Werror)
                target_link_libraries(user PRIVATE samesum::core)
                """, encoding="utf-8")
            (source / "main.cpp").write_text("""#include <samesum/samesum.hpp>
                int main() { return samesum::sum(std::vector<float>{0.5F, 0.5F}) == 1 ? 0 : 1; }
                """, encoding="utf-8")
            said = run("cmake", "-S", source, "-B", build, "-G", "Ninja", "-Werror=dev", "--log-level=NOTICE")
            self.assertNotIn("Warning", said)
            run("ninja", "-C", build, "CMakeFiles/user.dir/main.cpp.o")
            made = run("ninja", "-C", build, "-t", "commands", "all")
            self.assertIn("libsamesum.a", made)
            self.assertNotRegex(made, r"libsamesum\.so|libsamesum_image|-o cli/|tests/", "more than what is linked would be built")

    def test_presets_say_whom_they_are_for(self):
        presets = json.loads((ROOT / "CMakePresets.json").read_text(encoding="utf-8"))["configurePresets"]
        shown = {preset["name"]: preset["displayName"] for preset in presets if not preset.get("hidden")}
        self.assertEqual([name for name, text in shown.items() if text.startswith("for users: ")], ["release"])
        self.assertFalse({name: text for name, text in shown.items() if not re.match("for (users|developers): .", text)})


if __name__ == "__main__":
    unittest.main()

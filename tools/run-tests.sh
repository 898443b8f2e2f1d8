#!/bin/sh
# run-tests.sh [SECONDS]: all tests of a relocatable archive, where it stands; the fuzzers for so many seconds each (5).
set -u
here=$(cd "$(dirname "$0")" && pwd)
seconds=${1:-5}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export SAMESUM_FAKES="$here/lib/fakes" SAMESUM_PROGRAM="$here/bin/samesum" SAMESUM_CACHE_DIR="$scratch/cache"
python=python3  # the system's own, where there is one: it has the packages
[ ! -x /usr/bin/python3 ] || python=/usr/bin/python3
passed=0 failed=0 skipped=0

# run NAME COMMAND…: GoogleTest's and unittest's results say how many cases there were; anything else is one case.
run() {
  name=$1
  shift
  echo "== $name"
  GTEST_OUTPUT="xml:$scratch/result.xml" "$@"
  status=$?
  count() { sed -n "s/^<testsuites.* $1=\"\([0-9]*\)\".*/\1/p" "$scratch/result.xml"; }
  if [ -e "$scratch/result.xml" ]; then
    tests=$(count tests) failures=$(($(count failures) + $(count errors)))
    skips=$(grep -c 'result="skipped"' "$scratch/result.xml")
    [ $status -eq 0 ] || [ "$failures" -ne 0 ] || failures=1 tests=$((tests + 1))
    rm "$scratch/result.xml"
  else
    tests=1 skips=0 failures=0
    [ $status -eq 0 ] || failures=1
  fi
  passed=$((passed + tests - failures - skips)) failed=$((failed + failures)) skipped=$((skipped + skips))
}

run tests "$here/bin/samesum_tests" --gtest_brief=1
export SAMESUM_MASK=fp64,int64_atomics,subgroups,device_fence,local=32768,group=256,allocation=67108864
run "tests with crippled devices" "$here/bin/samesum_tests" --gtest_brief=1 --gtest_filter='*Sum*:Selftest*'
unset SAMESUM_MASK
for fuzzer in "$here"/bin/fuzz_*; do run "${fuzzer##*/}" "$fuzzer" --seconds "$seconds"; done
if "$python" -c "import numpy" 2>/dev/null; then
  for file in "$here"/tests/*/*_test.py; do
    [ ! -e "$file" ] || run "${file##*/}" "$python" "$here/tests/support/run_unittest.py" "$file"
  done
else
  echo "== the tests of the program are left out: they need python3 with numpy"
fi
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ] && [ "$passed" -ne 0 ]

"""python -m samesum: the program samesum."""
import os
import shutil
import sys
import sysconfig

places = os.pathsep.join([sysconfig.get_path("scripts"), os.environ.get("PATH", os.defpath)])
here = os.path.join(os.path.dirname(os.path.abspath(__file__)), "samesum")
program = os.environ.get("SAMESUM_PROGRAM") or (here if os.path.isfile(here) else shutil.which("samesum", path=places))
if program is None:
    sys.exit("samesum: the program is not installed; set SAMESUM_PROGRAM to its path")
os.execv(program, [program, *sys.argv[1:]])

// samesum-mpi COMMAND ...: a command of samesum over the ranks of MPI, as in `mpirun -n 8 samesum-mpi sum big.npy`.
//
// Each rank starts `samesum COMMAND ... --part RANK/RANKS --partial -`, which reads its part of the files; the partial results go to rank 0
// by messages, and rank 0 starts `samesum merge`, which prints the answer. So samesum itself does not depend on MPI, and this program on
// nothing but MPI; a rank's failure is an exit code, which all ranks learn.
#include <mpi.h>

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace {

namespace fs = std::filesystem;

constexpr int kUsage = 2;

constexpr std::string_view kHelp =
    R"(Usage: mpirun -n RANKS samesum-mpi COMMAND FILE... [OPTIONS]

A command of samesum, shared out over the ranks of MPI: each reads a part of the
files, and rank 0 prints the answer, which has the bits of one process's.
COMMAND is sum, stats, min, max, mean, var, std, norm, hist, dot or pairs, with
its own options (samesum sum --help); the files are arrays: .npy, or raw numbers.
--checkpoint FILE: each rank keeps its own, with its number behind the name.

Examples:
  mpirun -n 8 samesum-mpi sum big.npy
  mpirun -n 8 samesum-mpi hist --range 0 1 --csv big.npy
  mpirun -n 8 samesum-mpi pairs A.npy B.npy -o C.npy
  srun -n 64 samesum-mpi stats --json part-*.npy --total
)";

struct Outcome {
  int code = 0;
  std::string out, error;
};

// The program beside this one, or the one of the search path.
std::string program() {
  std::error_code error;
  const fs::path beside = fs::read_symlink("/proc/self/exe", error).parent_path() / "samesum";
  return !error && fs::exists(beside, error) ? beside.string() : "samesum";
}

// Runs samesum.
Outcome run(const std::vector<std::string>& arguments) {
  const std::string name = program();
  std::vector<char*> argv{const_cast<char*>(name.c_str())};
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  std::array<std::array<int, 2>, 3> pipes{{{-1, -1}, {-1, -1}, {-1, -1}}};  // its output, its messages, why it cannot be started
  for (auto& ends : pipes) {
    if (pipe2(ends.data(), O_CLOEXEC) != 0) return {kUsage, {}, std::string("samesum-mpi: no pipe: ") + std::strerror(errno) + "\n"};
  }
  const pid_t parent = getpid(), child = fork();
  if (child == 0) {
    // It ends with this process, which may be killed.
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(kUsage);
    const int nothing = open("/dev/null", O_RDONLY);
    dup2(nothing, STDIN_FILENO);
    dup2(pipes[0][1], STDOUT_FILENO);
    dup2(pipes[1][1], STDERR_FILENO);
    execvp(name.c_str(), argv.data());
    const int code = errno;
    [[maybe_unused]] const ssize_t written = write(pipes[2][1], &code, sizeof(code));
    _exit(kUsage);
  }
  int failure = child < 0 ? errno : 0;
  Outcome outcome;
  for (const auto& ends : pipes) close(ends[1]);
  std::array<pollfd, 2> wanted{{{pipes[0][0], POLLIN, 0}, {pipes[1][0], POLLIN, 0}}};
  std::vector<char> buffer(1 << 16);
  for (int open = failure == 0 ? 2 : 0; open > 0;) {
    if (poll(wanted.data(), wanted.size(), -1) < 0 && errno != EINTR) break;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      if (wanted[i].fd < 0 || wanted[i].revents == 0) continue;
      const ssize_t size = read(wanted[i].fd, buffer.data(), buffer.size());
      if (size > 0) {
        (i == 0 ? outcome.out : outcome.error).append(buffer.data(), static_cast<std::size_t>(size));
      } else if (size == 0 || errno != EINTR) {
        wanted[i].fd = -1;
        --open;
      }
    }
  }
  if (failure == 0 && read(pipes[2][0], &failure, sizeof(failure)) != sizeof(failure)) failure = 0;
  for (const auto& ends : pipes) close(ends[0]);
  if (failure != 0) return {kUsage, {}, "samesum-mpi: " + name + " cannot be started: " + std::strerror(failure) + "\n"};
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  outcome.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  if (WIFSIGNALED(status)) outcome.error += "samesum: ended by signal " + std::to_string(WTERMSIG(status)) + "\n";
  return outcome;
}

// Takes the value of an option out of the arguments; empty where it is not there.
std::string take_option(std::vector<std::string>& arguments, std::string_view name) {
  for (auto i = arguments.begin(); i != arguments.end(); ++i) {
    std::string value;
    if (i->starts_with(std::string(name) + "=")) {
      value = i->substr(name.size() + 1);
      arguments.erase(i);
    } else if (*i == name && i + 1 != arguments.end()) {
      value = *(i + 1);
      arguments.erase(i, i + 2);
    } else {
      continue;
    }
    return value;
  }
  return {};
}

// Bytes of any size in messages whose length MPI counts by int.
constexpr std::size_t kMax = std::size_t{1} << 30;
void send(const std::string& bytes, int to) {
  const std::uint64_t size = bytes.size();
  MPI_Send(&size, 1, MPI_UINT64_T, to, 0, MPI_COMM_WORLD);
  for (std::size_t first = 0; first < size; first += kMax) {
    MPI_Send(bytes.data() + first, static_cast<int>(std::min<std::size_t>(kMax, size - first)), MPI_BYTE, to, 0, MPI_COMM_WORLD);
  }
}
std::string receive(int from) {
  std::uint64_t size = 0;
  MPI_Recv(&size, 1, MPI_UINT64_T, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  std::string bytes(size, '\0');
  for (std::size_t first = 0; first < size; first += kMax) {
    MPI_Recv(bytes.data() + first, static_cast<int>(std::min<std::size_t>(kMax, size - first)), MPI_BYTE, from, 0, MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
  }
  return bytes;
}

// A folder for the parts, which the destructor removes.
class Folder {
 public:
  Folder() {
    const char* const given = std::getenv("TMPDIR");
    path_ = std::string(given != nullptr && *given != 0 ? given : "/tmp") + "/samesum-mpi-XXXXXX";
    if (mkdtemp(path_.data()) == nullptr) path_.clear();
  }
  ~Folder() {
    std::error_code error;
    if (!path_.empty()) fs::remove_all(path_, error);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  // Writes a file; an empty name where that fails.
  std::string write(int number, const std::string& bytes) const {
    if (path_.empty()) return {};
    const std::string name = path_ + "/" + std::to_string(number) + ".part";
    std::FILE* const file = std::fopen(name.c_str(), "wbe");
    if (file == nullptr) return {};
    const bool written = std::fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size();
    return std::fclose(file) == 0 && written ? name : std::string();
  }

 private:
  std::string path_;
};

// On rank 0, which has its own part: merges and prints.
int merge(const std::string& own, int ranks, const std::string& partial, const std::string& array) {
  const Folder folder;
  std::vector<std::string> arguments{"merge"};
  if (!partial.empty()) arguments.insert(arguments.end(), {"--partial", partial});
  if (!array.empty()) arguments.insert(arguments.end(), {"--out", array});
  bool stored = true;
  for (int rank = 0; rank < ranks; ++rank) {
    arguments.push_back(folder.write(rank, rank == 0 ? own : receive(rank)));
    stored = stored && !arguments.back().empty();
  }
  if (!stored) {
    std::fprintf(stderr, "samesum-mpi: the parts cannot be stored in TMPDIR (or /tmp): %s\n", std::strerror(errno));
    return kUsage;
  }
  // As for a pipe: some launchers give rank 0 a terminal of their own, whatever the user's output is.
  const Outcome outcome = run(arguments);
  std::fwrite(outcome.out.data(), 1, outcome.out.size(), stdout);
  std::fputs(outcome.error.c_str(), stderr);
  return std::fflush(stdout) == 0 ? outcome.code : kUsage;
}

int work(std::vector<std::string> arguments, int rank, int ranks) {
  const auto told = [&](std::string_view text, int code) {
    if (rank == 0) std::fwrite(text.data(), 1, text.size(), code == 0 ? stdout : stderr);
    return rank == 0 ? code : 0;
  };
  const auto given = [&](std::string_view name) { return std::ranges::find(arguments, name) != arguments.end(); };
  if (given("--help") || given("-h")) return told(kHelp, 0);
  constexpr std::array kCommands = {"sum", "stats", "min", "max", "argmin", "argmax", "mean", "var", "std", "norm", "hist", "dot", "pairs"};
  if (arguments.empty() || std::ranges::find(kCommands, arguments.front()) == kCommands.end()) {
    return told(
        "samesum-mpi: COMMAND is one of sum, stats, min, max, argmin, argmax, mean, var, std, norm, hist, dot, pairs; --help tells more\n",
        kUsage);
  }
  if (!take_option(arguments, "--part").empty()) return told("samesum-mpi: each rank has its part: leave out --part\n", kUsage);
  const std::string partial = take_option(arguments, "--partial"), checkpoint = take_option(arguments, "--checkpoint");
  std::string array;  // what rank 0 writes of pairs
  if (arguments.front() == "pairs") {
    array = take_option(arguments, "--out");
    if (array.empty()) array = take_option(arguments, "-o");
  }
  const std::string part = std::to_string(rank + 1) + "/" + std::to_string(ranks);
  std::vector<std::string> mine{arguments.front(), "--part", part, "--partial", "-"};
  if (!checkpoint.empty()) mine.insert(mine.end(), {"--checkpoint", checkpoint + "." + std::to_string(rank + 1)});
  mine.insert(mine.end(), arguments.begin() + 1, arguments.end());
  const Outcome outcome = run(mine);

  std::vector<int> codes(static_cast<std::size_t>(ranks));
  MPI_Allgather(&outcome.code, 1, MPI_INT, codes.data(), 1, MPI_INT, MPI_COMM_WORLD);
  const auto bad = std::ranges::find_if(codes, [](int code) { return code != 0; });
  if (bad != codes.end()) {  // the first one tells why
    const int failed = static_cast<int>(bad - codes.begin());
    if (failed != 0 && rank == failed) send(outcome.error, 0);
    if (rank != 0) return 0;
    const std::string why = failed == 0 ? outcome.error : receive(failed);
    std::fprintf(stderr, "samesum-mpi: rank %d of %d: %s", failed, ranks, why.c_str());
    return *bad;
  }
  std::fputs(outcome.error.c_str(), stderr);
  if (rank == 0) return merge(outcome.out, ranks, partial, array);
  send(outcome.out, 0);
  return 0;
}

}  // namespace

int main(int count, char** arguments) {
  MPI_Init(&count, &arguments);
  int rank = 0, ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  int code = work({arguments + 1, arguments + count}, rank, ranks);
  MPI_Finalize();
  return code;
}

# Run by embed_kernels() at build time.
set(text "#include \"device/kernels/program.hpp\"\n\n#include <samesum/error.hpp>\n\nnamespace samesum::device {\nnamespace {\n\nstruct File {\n  std::string_view path;\n  std::string_view text;\n};\n\nconstexpr File kFiles[] = {\n")
foreach(file IN LISTS FILES)
  file(READ ${ROOT}/${file} content)
  string(REPLACE "../include/" "" name ${file})  # headers for users' kernels, by the name that users include them by
  string(APPEND text "    {\"${name}\", R\"kernel(${content})kernel\"},\n")
endforeach()
string(APPEND text "};\n\n}  // namespace\n\nstd::string_view kernel_file(std::string_view path) {\n  for (const File& file : kFiles) {\n    if (file.path == path) return file.text;\n  }\n  throw Error(ErrorKind::usage, \"no kernel file '\" + std::string(path) + \"' is part of this program\");\n}\n\nstd::vector<std::string_view> kernel_files() {\n  std::vector<std::string_view> paths;\n  for (const File& file : kFiles) paths.push_back(file.path);\n  return paths;\n}\n\n}  // namespace samesum::device\n")
file(WRITE ${OUTPUT} "${text}")

// Text in SVG drawings.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace samesum::cli {

/// Text escaped for XML, for any bytes in a file's name; keeps the end of text of more than `most` bytes.
std::string svg_text(const std::string& text, std::size_t most = 60);

/// "1234", "12.3k", "4.5M".
std::string short_number(double value);
/// Short labels, all different.
std::vector<std::string> labels_of(const std::vector<double>& values);

}  // namespace samesum::cli

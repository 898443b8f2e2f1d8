#include "tuning/record.hpp"

#include <samesum/error.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <initializer_list>
#include <sstream>
#include <utility>

namespace samesum::tuning {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kFormat = 1;
constexpr std::uint32_t kMaxGroupSize = 1024;
constexpr std::uint32_t kMaxResidentItems = 2048;  // of a compute unit

constexpr std::array<std::pair<Operation, std::string_view>, 9> kOperations = {{{Operation::small_sum, "small_sum"},
                                                                                {Operation::small_squares, "small_squares"},
                                                                                {Operation::small_dot, "small_dot"},
                                                                                {Operation::extrema, "extrema"},
                                                                                {Operation::sum, "sum"},
                                                                                {Operation::dot, "dot"},
                                                                                {Operation::sum_in_bins, "sum_in_bins"},
                                                                                {Operation::dot_in_bins, "dot_in_bins"},
                                                                                {Operation::count, "count"}}};

struct Number {
  std::string_view name;
  std::uint32_t Shape::*field;
};
struct Flag {
  std::string_view name;
  bool Shape::*field;
};
constexpr Number kNumbers[] = {{"group_size", &Shape::group_size}, {"loads", &Shape::loads},     {"resident", &Shape::resident},
                               {"groups", &Shape::groups},         {"columns", &Shape::columns}, {"steps", &Shape::steps}};
constexpr Flag kFlags[] = {{"per_unit", &Shape::per_unit},
                           {"stream", &Shape::stream},
                           {"drawn", &Shape::drawn},
                           {"polled", &Shape::polled},
                           {"single_tiles", &Shape::single_tiles}};

[[noreturn]] void refuse(const std::string& why) { throw Error(ErrorKind::usage, why); }

// @throws Error where `object` has a member that is none of these, which a newer or another program may have written.
void require_members(const Json& object, std::initializer_list<std::string_view> known) {
  if (!object.is_object()) refuse("an object is expected");
  for (const auto& [name, value] : object.items()) {
    if (std::ranges::find(known, name) == known.end()) refuse(fmt::format("unknown member '{}'", name));
  }
}

std::uint64_t number_of(const Json& value, std::string_view name, std::uint64_t most) {
  if (!value.is_number_unsigned() || value.get<std::uint64_t>() > most) refuse(fmt::format("'{}' is no number up to {}", name, most));
  return value.get<std::uint64_t>();
}

std::string string_of(const Json& object, const char* name) {
  if (!object.contains(name)) return {};
  if (!object[name].is_string()) refuse(fmt::format("'{}' is no string", name));
  return object[name].get<std::string>();
}

bool flag_of(const Json& object, const char* name) {
  if (!object.contains(name)) return false;
  if (!object[name].is_boolean()) refuse(fmt::format("'{}' is neither true nor false", name));
  return object[name].get<bool>();
}

Shape shape_of(const Json& object) {
  if (!object.is_object()) refuse("'shape' is no object");
  Shape shape;
  for (const auto& [name, value] : object.items()) {
    const auto number = std::ranges::find(kNumbers, name, &Number::name);
    const auto flag = std::ranges::find(kFlags, name, &Flag::name);
    if (number != std::end(kNumbers)) {
      shape.*number->field = static_cast<std::uint32_t>(number_of(value, name, 1u << 20));
    } else if (flag != std::end(kFlags)) {
      shape.*flag->field = flag_of(object, flag->name.data());
    } else {
      refuse(fmt::format("unknown member '{}' of a shape", name));
    }
  }
  return shape;
}

std::bitset<kDTypes.size()> types_of(const std::string& text) {
  std::bitset<kDTypes.size()> types;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    bool known = false;
    for (std::size_t i = 0; i < kDTypes.size(); ++i) {
      const DType type = kDTypes[i];
      if (word != "all" && word != (is_integer(type) ? "integers" : "floats") && word != name_of(type)) continue;
      types.set(i);
      known = true;
    }
    if (!known) refuse(fmt::format("unknown type '{}'", word));
  }
  if (types.none()) refuse("'types' is empty");
  return types;
}

TuneTiming timing_of(const Json& object) {
  require_members(object, {"median", "low", "high", "shipped"});
  TuneTiming timing;
  for (const auto& [name, to] :
       {std::pair{"median", &timing.median}, {"low", &timing.low}, {"high", &timing.high}, {"shipped", &timing.shipped}}) {
    if (!object.contains(name) || !object[name].is_number() || !(object[name].get<double>() >= 0)) {
      refuse(fmt::format("'{}' of 'seconds' is no time", name));
    }
    *to = object[name].get<double>();
  }
  return timing;
}

Record record_of(const Json& object) {
  require_members(object, {"operation", "types", "above_bytes", "max_bytes", "without_indices", "shape", "seconds"});
  Record record;
  const std::string operation = string_of(object, "operation");
  const auto known = std::ranges::find(kOperations, operation, &decltype(kOperations)::value_type::second);
  if (known == kOperations.end()) refuse(fmt::format("unknown operation '{}'", operation));
  record.operation = known->first;
  record.types = types_of(string_of(object, "types"));
  if (object.contains("above_bytes")) record.above_bytes = number_of(object["above_bytes"], "above_bytes", ~std::uint64_t{0});
  if (object.contains("max_bytes")) record.max_bytes = number_of(object["max_bytes"], "max_bytes", ~std::uint64_t{0});
  record.without_indices = flag_of(object, "without_indices");
  if (!object.contains("shape")) refuse("there is no 'shape'");
  record.shape = shape_of(object["shape"]);
  if (const std::string why = why_invalid(record.operation, record.shape); !why.empty()) refuse(why);
  if (object.contains("seconds")) record.timing = timing_of(object["seconds"]);
  return record;
}

Table table_of(const Json& object) {
  require_members(object, {"kind", "device", "platform", "driver", "names", "vendor", "is_cpu", "records"});
  Table table{string_of(object, "kind"),
              string_of(object, "device"),
              string_of(object, "platform"),
              string_of(object, "driver"),
              {},
              string_of(object, "vendor"),
              flag_of(object, "is_cpu"),
              {}};
  if (object.contains("names")) {
    for (const Json& name : object["names"]) {
      if (!name.is_string() || name.get<std::string>().empty()) refuse("'names' holds something that is no name");
      table.names.push_back(name.get<std::string>());
    }
  }
  if (!object.contains("records") || !object["records"].is_array()) refuse("there is no array 'records'");
  for (std::size_t i = 0; i < object["records"].size(); ++i) {
    try {
      table.records.push_back(record_of(object["records"][i]));
    } catch (const Error& error) {
      refuse(fmt::format("record {}: {}", i, error.what()));
    }
  }
  return table;
}

Json json_of(const Shape& shape) {
  const Shape plain;
  Json object = Json::object();
  for (const Number& number : kNumbers) {
    if (shape.*number.field != plain.*number.field) object[std::string(number.name)] = shape.*number.field;
  }
  for (const Flag& flag : kFlags) {
    if (shape.*flag.field) object[std::string(flag.name)] = true;
  }
  return object;
}

Json json_of(const Record& record) {
  Json object = {{"operation", name_of(record.operation)}, {"types", text_of_types(record.types)}};
  if (record.above_bytes != 0) object["above_bytes"] = record.above_bytes;
  if (record.max_bytes != ~std::uint64_t{0}) object["max_bytes"] = record.max_bytes;
  if (record.without_indices) object["without_indices"] = true;
  object["shape"] = json_of(record.shape);
  if (record.timing) {
    object["seconds"] = {
        {"median", record.timing->median}, {"low", record.timing->low}, {"high", record.timing->high}, {"shipped", record.timing->shipped}};
  }
  return object;
}

}  // namespace

std::string_view name_of(Operation operation) {
  return std::ranges::find(kOperations, operation, &decltype(kOperations)::value_type::first)->second;
}

std::string text_of_types(const std::bitset<kDTypes.size()>& types) {
  std::string text;
  for (std::size_t i = 0; i < kDTypes.size(); ++i) {
    if (types[i]) text.append(text.empty() ? "" : " ").append(name_of(kDTypes[i]));
  }
  return types.all() ? "all" : text;
}

std::string Shape::text() const {
  const Shape plain;
  std::string text;
  const auto add = [&](const std::string& more) { text += (text.empty() ? "" : " ") + more; };
  for (const Number& number : kNumbers) {
    if (this->*number.field != plain.*number.field) add(fmt::format("{}={}", number.name, this->*number.field));
  }
  for (const Flag& flag : kFlags) {
    if (this->*flag.field) add(std::string(flag.name));
  }
  return text.empty() ? "none" : text;
}

std::string why_invalid(Operation operation, const Shape& shape) {
  const bool small = operation == Operation::small_sum || operation == Operation::small_squares || operation == Operation::small_dot;
  const auto power = [](std::uint32_t value, std::uint32_t most) { return std::has_single_bit(value) && value <= most; };
  if (small && shape == Shape{}) return {};
  if (!power(shape.group_size, kMaxGroupSize) || shape.group_size < 64) return "'group_size' is no power of two from 64 to 1024";
  if (!power(shape.loads, small || operation == Operation::extrema ? 8 : 4))
    return "'loads' is no power of two up to 8, or 4 where there are bins";
  if (shape.resident < 1 || shape.resident * shape.group_size > kMaxResidentItems) return "'resident' groups are more than 2048 work-items";
  if (shape.groups > (shape.per_unit ? 2u : 256u)) return "'groups' is more than 256, or than 2 for each compute unit";
  if (!power(shape.columns, 32) || shape.columns < 4) return "'columns' is none of 4, 8, 16, 32";
  if (shape.group_size / shape.columns > 256) return "there are too few 'columns' for this 'group_size'";
  if (!power(shape.steps, 8)) return "'steps' is none of 1, 2, 4, 8";
  if (shape.single_tiles && !(shape.polled && !shape.drawn)) return "'single_tiles' is for 'polled' without 'drawn'";
  if (shape.polled && (operation != Operation::extrema || shape.drawn)) return "'polled' is for extrema whose tiles are not 'drawn'";
  if (operation == Operation::extrema && shape.groups == 0 && !shape.drawn) return "'groups' may be 0 only where tiles are 'drawn'";
  return {};
}

bool Record::fits(Operation wanted, DType type, std::uint64_t bytes, bool indices) const {
  return operation == wanted && types[static_cast<std::size_t>(type)] && (above_bytes == 0 || bytes > above_bytes) && bytes <= max_bytes &&
         !(without_indices && indices);
}

bool is_of_same(const Table& a, const Table& b) {
  return a.device == b.device && a.platform == b.platform && (!a.device.empty() || a.kind == b.kind);
}

TuneMatch match_of(const Table& table, const DeviceInfo& info) {
  const auto contains = [&](const std::string& word) {
    return !word.empty() && (info.name.find(word) != std::string::npos || info.platform.find(word) != std::string::npos);
  };
  if (!table.device.empty()) return table.device == info.name && table.platform == info.platform ? TuneMatch::device : TuneMatch::none;
  if (std::ranges::any_of(table.names, contains)) return TuneMatch::kind;
  if (contains(table.vendor)) return TuneMatch::vendor;
  return table.is_cpu == info.is_cpu ? TuneMatch::device_class : TuneMatch::generic;
}

std::vector<Table> parse_tables(std::string_view text) {
  const Json file = Json::parse(text, nullptr, false);
  if (file.is_discarded()) refuse("this is no JSON");
  require_members(file, {"format", "tables"});
  if (!file.contains("format") || file["format"] != kFormat) refuse(fmt::format("its 'format' is not {}", kFormat));
  if (!file.contains("tables") || !file["tables"].is_array()) refuse("there is no array 'tables'");
  std::vector<Table> tables;
  for (std::size_t i = 0; i < file["tables"].size(); ++i) {
    try {
      tables.push_back(table_of(file["tables"][i]));
    } catch (const Error& error) {
      refuse(fmt::format("table {}: {}", i, error.what()));
    }
  }
  return tables;
}

std::string text_of(std::span<const Table> tables) {
  std::string text = fmt::format("{{\"format\": {}, \"tables\": [", kFormat);
  const auto quoted = [](const auto& value) { return Json(value).dump(-1, ' ', false, Json::error_handler_t::replace); };
  for (const Table& table : tables) {
    text += &table == tables.data() ? "{" : ", {";
    text += "\n  \"kind\": " + quoted(table.kind);
    const auto add = [&](std::string_view name, const std::string& value) {
      if (!value.empty()) text += fmt::format(",\n  \"{}\": {}", name, quoted(value));
    };
    add("device", table.device);
    add("platform", table.platform);
    add("driver", table.driver);
    if (!table.names.empty()) text += ",\n  \"names\": " + quoted(table.names);
    add("vendor", table.vendor);
    text += fmt::format(",\n  \"is_cpu\": {},\n  \"records\": [", table.is_cpu);
    for (std::size_t i = 0; i < table.records.size(); ++i) text += (i == 0 ? "\n    " : ",\n    ") + quoted(json_of(table.records[i]));
    text += "\n  ]\n}";
  }
  return text + "]}\n";
}

}  // namespace samesum::tuning

// Quantiles of arrays and sources: the public functions.
#include <samesum/quantile.hpp>

#include "core/array/pieces.hpp"
#include "core/float_environment.hpp"
#include "core/progress.hpp"
#include "device/memory/run.hpp"
#include "quantile/between.hpp"
#include "quantile/select.hpp"

#include <samesum/error.hpp>

#include <fmt/format.h>

#include <chrono>
#include <optional>
#include <utility>

namespace samesum {
namespace {

constexpr std::pair<QuantileMethod, std::string_view> kMethods[] = {
    {QuantileMethod::linear, "linear"},   {QuantileMethod::lower, "lower"},       {QuantileMethod::higher, "higher"},
    {QuantileMethod::nearest, "nearest"}, {QuantileMethod::midpoint, "midpoint"},
};

// Selects given ranks; completes the report of where and how.
using Select = std::function<selection::Selected(const selection::Ranks&, Report&)>;

Quantiles quantiles_of(const Select& select, std::optional<DType> type, std::span<const double> q, const QuantileRule& rule,
                       const Options& options) {
  const core::DefaultFloatEnvironment environment;
  const auto start = std::chrono::steady_clock::now();
  std::vector<selection::Fraction> fractions;
  for (const double one : q) fractions.push_back(selection::fraction_of(one));
  std::optional<selection::Ranking> ranking;
  const auto find_ranks = [&](std::uint64_t count, std::uint64_t nans) -> std::vector<std::uint64_t> {
    if (nans != 0 && options.nan == NanPolicy::propagate) return {};
    selection::require_elements(count, nans);
    ranking.emplace(fractions, count, rule);
    return ranking->ranks;
  };
  Report report{"cpu", "selection", "", 0, 0, 0};
  const selection::Selected selected = select(find_ranks, report);
  Quantiles result{{}, selected.count, selected.nan_count};
  if (options.report != nullptr) {
    report.bytes = selected.count * size_of(type.value_or(DType::float64));
    report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    *options.report = report;
  }
  if (!ranking) {
    result.values.assign(q.size(), {selection::kNan, rule.to_float ? DType::float32 : type && !is_integer(*type) ? *type : DType::float64});
    return result;
  }
  for (const selection::Ranking::Place& place : ranking->places) {
    const Value& low = selected.values[place.low];
    result.values.push_back(place.between   ? (*place.between)(low, selected.values[place.high])
                            : rule.to_float ? selection::as_float(low)
                                            : low);
  }
  return result;
}

// Whether kernels count the digits of elements that lie there.
bool selects_on(const std::optional<Device>& there, const Options& options) {
  return there && there->info().has(Capability::kernels) &&
         (!options.device || &options.device->implementation() == &there->implementation());
}

}  // namespace

std::string_view name_of(QuantileMethod method) noexcept {
  for (const auto& [known, name] : kMethods) {
    if (known == method) return name;
  }
  return "";
}

QuantileMethod parse_quantile_method(std::string_view name) {
  std::string names;
  for (const auto& [method, known] : kMethods) {
    if (known == name) return method;
    names.append(names.empty() ? "" : ", ").append(known);
  }
  throw Error(ErrorKind::usage, fmt::format("unknown method '{}' of a quantile: there are {}", name, names));
}

Quantiles quantiles(const Array& data, std::span<const double> q, const QuantileRule& rule, const Options& options) {
  const auto pass = [&](const std::function<void(const selection::Piece&)>& body) {
    core::ProgressParts progress(options, 0);
    device::for_host_blocks(data, core::Order::memory,
                            [&](View block) { progress.for_parts(block, [&](View part) { core::for_contiguous_pieces(part, body); }); });
  };
  const auto select = [&](const selection::Ranks& ranks, Report& report) {
    if (data.size() <= selection::kMaxCopied ||
        !selects_on(data.on_device() ? std::optional(data.buffer().device()) : std::nullopt, options)) {
      return selection::select(pass, data.type(), options.tuning.threads, ranks);
    }
    report.device = data.buffer().device().info().selector;
    core::ProgressParts progress(options, 0);
    return selection::select(
        data, ranks, [&](std::uint64_t count) { progress.add(count * size_of(data.type())); }, report.configuration);
  };
  return quantiles_of(select, data.type(), q, rule, options);
}

Quantiles quantiles(const std::function<std::unique_ptr<Source>()>& open, std::span<const double> q, const QuantileRule& rule,
                    const Options& options) {
  std::unique_ptr<Source> source = open();
  const std::optional<DType> type = source->type();
  core::ProgressParts of_terms(options, 0);
  std::unique_ptr<statistics::HostTerms> terms;
  const auto pass = [&](const std::function<void(const selection::Piece&)>& body) {
    if (terms != nullptr) return body(selection::Piece(*terms));
    if (source == nullptr) source = open();
    core::ProgressParts progress(options, 0);
    while (const std::optional<Array> view = source->next()) {
      device::for_host_blocks(*view, core::Order::memory,
                              [&](View block) { progress.for_parts(block, [&](View part) { core::for_contiguous_pieces(part, body); }); });
    }
    source.reset();
  };
  const auto select = [&](const selection::Ranks& ranks, Report& report) {
    const bool many = type && source->resident_bytes() > selection::kMaxCopied * size_of(*type);
    if (many && selects_on(source->device(), options)) {
      if (const auto there = statistics::terms_of(*source, *source->device())) {
        report.device = there->device().info().selector;
        core::ProgressParts progress(options, 0);
        return selection::select(
            *there, ranks, [&](std::uint64_t count) { progress.add(count * size_of(*type)); }, report.configuration);
      }
    }
    terms = statistics::host_terms_of(*source, Device::open("cpu"), of_terms);
    return selection::select(pass, type, options.tuning.threads, ranks);
  };
  return quantiles_of(select, type, q, rule, options);
}

Value quantile(const Array& data, double q, const QuantileRule& rule, const Options& options) {
  return quantiles(data, std::span<const double>(&q, 1), rule, options).values.front();
}

Value median(const Array& data, const Options& options) { return quantile(data, 0.5, {}, options); }

}  // namespace samesum

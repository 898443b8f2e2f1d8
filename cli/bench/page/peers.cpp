#include "bench/page/peers.hpp"

#include "input/user_file.hpp"
#include "output/number.hpp"
#include "usage.hpp"

#include <samesum/types.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace samesum::cli::report {
namespace {

Peer peer_of(const Json& round, const Json& sum) {
  Peer peer;
  peer.type = round.at("type").get<std::string>();
  peer.data = round.at("data").get<std::string>();
  peer.elements = round.at("elements").get<double>();
  peer.bytes = peer.elements * static_cast<double>(size_of(parse_dtype(peer.type)));
  peer.sum = sum.at("sum").get<std::string>();
  peer.where = sum.at("where").get<std::string>();
  const Json& seconds = sum.at("seconds");
  peer.seconds = seconds.at("median").get<double>();
  peer.low = seconds.at("low").get<double>();
  peer.high = seconds.at("high").get<double>();
  if (sum.at("times_samesum").is_number()) peer.times_samesum = sum.at("times_samesum").get<double>();
  if (sum.at("error_ulps").is_number()) peer.error_ulps = sum.at("error_ulps").get<double>();
  peer.repeats = sum.at("repeats").get<bool>();
  peer.order_free = sum.at("order_free").get<bool>();
  return peer;
}

std::string value_of(const Peer& peer) {
  return peer.error_ulps < 0 ? "no number" : peer.error_ulps <= 0.5 ? "right" : fmt::format("{} ulp", figure(peer.error_ulps));
}

Plot plot_of(const std::vector<const Peer*>& peers) {
  Plot plot{fmt::format("Sums of {}, {} data", peers.front()->type, peers.front()->data), "size", "GB/s", "", true, {}};
  plot.summary = plot.title + ", GB/s over the size; all figures are in the table below.";
  for (const Peer* peer : peers) {
    const std::string name = fmt::format("{}, {}", peer->sum, peer->where);
    auto line = std::ranges::find(plot.lines, name, &Line::name);
    if (line == plot.lines.end()) line = plot.lines.insert(line, Line{name, peer->sum != "samesum", true, {}});
    line->points.push_back({peer->bytes, peer->bytes / peer->seconds / 1e9, value_of(*peer)});
  }
  return plot;
}

}  // namespace

std::vector<Peer> read_peers(const std::string& path) {
  std::vector<Peer> peers;
  try {
    for (const Json& round : Json::parse(read_file(path))) {
      for (const Json& sum : round.at("sums")) {
        if (!sum.contains("not_measured")) peers.push_back(peer_of(round, sum));
      }
    }
  } catch (const nlohmann::json::exception& error) {
    refuse(fmt::format("{} does not hold the figures of 'samesum_peers --json FILE': {}", path, error.what()));
  }
  if (peers.empty()) refuse(fmt::format("{} holds no figures of 'samesum_peers --json FILE'", path));
  for (const Peer& peer : peers) {
    if (!(peer.seconds > 0 && peer.bytes > 0)) refuse(fmt::format("{}: the sum '{}' has no time or no elements", path, peer.sum));
  }
  return peers;
}

std::string html_of(const std::vector<Peer>& peers) {
  std::string html;
  std::vector<std::vector<const Peer*>> kinds;
  for (const Peer& peer : peers) {
    auto kind =
        std::ranges::find_if(kinds, [&](const auto& one) { return one.front()->type == peer.type && one.front()->data == peer.data; });
    if (kind == kinds.end()) kind = kinds.insert(kind, std::vector<const Peer*>{});
    kind->push_back(&peer);
  }
  for (const auto& kind : kinds) html += html_of(plot_of(kind));
  html +=
      "<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"all figures\"><table><caption>Time, and the error of the value in "
      "units in the last place</caption><thead><tr><th scope=\"col\">Sum</th>"
      "<th scope=\"col\">Where</th><th scope=\"col\">Data</th><th scope=\"col\" class=\"n\">Elements</th><th scope=\"col\" "
      "class=\"n\">Time</th>"
      "<th scope=\"col\" class=\"n\">GB/s</th><th scope=\"col\" class=\"n\">Of samesum's time</th><th scope=\"col\">Value</th>"
      "<th scope=\"col\">Same bits</th></tr></thead><tbody>\n";
  for (const Peer& peer : peers)
    html += fmt::format(
        "<tr><th scope=\"row\">{}</th><td>{}</td><td>{} {}</td><td class=\"n\">{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td><td "
        "class=\"n\">{}</td><td>{}</td><td>{}</td></tr>\n",
        escaped(peer.sum), escaped(peer.where), escaped(peer.type), escaped(peer.data), grouped(static_cast<std::uint64_t>(peer.elements)),
        duration(peer.seconds), figure(peer.bytes / peer.seconds / 1e9), peer.times_samesum > 0 ? figure(peer.times_samesum) : "–",
        value_of(peer),
        !peer.repeats     ? "not even in another run"
        : peer.order_free ? "in any order"
                          : "in another run");
  return html + "</tbody></table></div>\n";
}

}  // namespace samesum::cli::report

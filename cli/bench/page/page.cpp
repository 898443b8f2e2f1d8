#include "bench/page/page.hpp"

#include "output/number.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace samesum::cli::report {
namespace {

constexpr std::string_view kStyle = R"css(
:root { color-scheme: light dark; --ink: #1b1f24; --soft: #57606a; --paper: #fff; --card: #f6f8fa; --line: #d0d7de; --bar: #0b6bcb; --tick: #b45309;
  --good: #116329; --bad: #b42318; --s0: #0b6bcb; --s1: #b45309; --s2: #0f766e; --s3: #9333ea; --s4: #57606a; --s5: #be185d; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6edf3; --soft: #9da7b1; --paper: #0d1117; --card: #161b22; --line: #30363d; --bar: #58a6ff; --tick: #f0a94a; --good: #56d364;
    --bad: #ff8178; --s0: #58a6ff; --s1: #f0a94a; --s2: #3fd0c0; --s3: #c79bff; --s4: #9da7b1; --s5: #ff8ec2; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 80rem; padding: 1rem; font: 16px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); }
h1 { line-height: 1.2; margin-bottom: .25rem; } h2 { margin-top: 3rem; border-top: 1px solid var(--line); padding-top: 1rem; }
a { color: var(--bar); } a:focus-visible, [tabindex]:focus-visible, summary:focus-visible { outline: 3px solid var(--tick); outline-offset: 2px; }
.skip { position: absolute; left: -99rem; } .skip:focus { left: 1rem; background: var(--paper); padding: .5rem; }
nav ul { list-style: none; padding: 0; display: flex; flex-wrap: wrap; gap: .25rem 1rem; }
code, pre { font-family: ui-monospace, monospace; font-size: .9em; } pre { overflow-x: auto; background: var(--card); padding: .5rem .75rem; border-radius: 6px; }
.soft { color: var(--soft); } .good { color: var(--good); } .bad { color: var(--bad); }
table { border-collapse: collapse; width: 100%; } caption { text-align: left; font-weight: 600; padding: .5rem 0; }
th, td { text-align: left; vertical-align: top; padding: .4rem .6rem .4rem 0; border-bottom: 1px solid var(--line); font-weight: normal; }
thead th { color: var(--soft); font-size: .85rem; } th[scope=row] b { font-family: ui-monospace, monospace; }
.n { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; } small { display: block; color: var(--soft); }
.rungs { table-layout: fixed; } .rungs th, .rungs td { overflow-wrap: anywhere; } .rungs thead th:nth-child(1) { width: 14%; } .rungs thead th:nth-child(2) { width: 16%; }
.rungs thead th:nth-child(n+3):nth-child(-n+5) { width: 7.5%; text-align: right; } .rungs thead th:nth-child(7) { width: 13%; }
.rungs td.n, .rungs td.text { padding-right: 1rem; } .rungs thead th:nth-child(n+3):nth-child(-n+5) { padding-right: 1rem; }
.scroll { overflow-x: auto; } .track { position: relative; height: 1.1rem; margin-top: .2rem; background: var(--card); border-radius: 3px; }
.track span { position: absolute; inset: 0 auto 0 0; background: var(--bar); border-radius: 3px; min-width: 2px; }
.track .wrong { background: repeating-linear-gradient(45deg, var(--bad) 0 4px, transparent 4px 8px); }
.track i { position: absolute; top: -3px; bottom: -3px; width: 3px; background: var(--tick); transform: translateX(-2px); }
.key::before { content: ""; display: inline-block; width: 3px; height: 1em; background: var(--tick); vertical-align: -2px; margin-right: .4em; }
figure { margin: 1.5rem 0; } figcaption { font-weight: 600; margin-bottom: .5rem; }
.plot { position: relative; height: 18rem; margin: 0 .75rem 3.2rem 3.2rem; border-left: 1px solid var(--line); border-bottom: 1px solid var(--line); }
.plot svg { position: absolute; inset: 0; width: 100%; height: 100%; overflow: visible; } .plot line.grid { stroke: var(--line); }
.plot .x, .plot .y { position: absolute; font-size: .75rem; color: var(--soft); white-space: nowrap; }
.plot .x { top: 100%; transform: translateX(-50%); padding-top: .25rem; } .plot .y { right: 100%; transform: translateY(50%); padding-right: .4rem; }
.plot .xname { position: absolute; top: calc(100% + 1.5rem); width: 100%; text-align: center; font-size: .85rem; color: var(--soft); }
.legend { list-style: none; display: flex; flex-wrap: wrap; gap: .25rem 1.25rem; padding: 0; font-size: .9rem; } .legend svg { width: 2rem; height: .8rem; margin-right: .4rem; }
@media (max-width: 45rem) {
  .rungs, .rungs tbody { display: block; } .rungs thead { position: absolute; left: -99rem; }
  .rungs tr { display: grid; grid-template-columns: 1fr auto auto; gap: 0 .9rem; padding: .6rem 0; border-bottom: 1px solid var(--line); }
  .rungs th, .rungs td { border: 0; padding: .1rem 0; } .rungs caption { display: block; } .rungs .bar, .rungs .text { grid-column: 1 / -1; width: auto; }
  .rungs .value::after { content: attr(data-unit); color: var(--soft); font-size: .85em; } .rungs td.n, .rungs td.text { padding-right: 0; }
  .rungs .bar { grid-row: 2; } .rungs .text { grid-row: 3; } .rungs .check { grid-column: 1 / -1; grid-row: 4; } .rungs .time { display: none; } }
@media print { .skip, nav { display: none; } h2 { break-before: page; } }
)css";

constexpr int kColours = 6;

std::string verdict_class(const Row& row) {
  if (row.verdict == "right") return "good";
  return row.verdict == "wrong" || row.verdict == "failed" ? "bad" : "soft";
}

double highest(const Chart& chart) {
  double most = 0;
  for (const Row& row : chart.rows) most = std::max({most, row.ceiling, row.verdict == "right" ? row.value : 0});
  return most;
}

std::string bar(const Row& row, double most) {
  if (row.value <= 0 || most <= 0) return "";
  std::string html = fmt::format(R"(<div class="track" aria-hidden="true"><span{} style="width:{:.2f}%"></span>)",
                                 row.verdict == "right" ? "" : " class=\"wrong\"", std::min(100.0, 100 * row.value / most));
  if (row.ceiling > 0) html += fmt::format(R"(<i style="left:{:.2f}%"></i>)", 100 * row.ceiling / most);
  return html + "</div>";
}

// A name of a variant may break after each underscore.
std::string breakable(std::string_view name) {
  std::string html;
  for (const char c : escaped(name)) html += c == '_' ? "_<wbr>" : std::string(1, c);
  return html;
}

// What a rung does, with what is expected of a faulty one.
std::string does(const Text& text) { return fmt::format("{}{}", text.does, text.faulty ? " It is expected to be wrong." : ""); }

std::string remark(std::string_view name, std::string_view text) {
  return text.empty() ? "" : fmt::format("<small>{}: {}</small>", name, text);
}

std::string html_row(const Row& row, const Chart& chart, double most) {
  const bool timed = row.value > 0;
  const Text text = text_of(chart.ladder, row.name);
  const bool by_chance = text.faulty && row.verdict == "right";
  std::string html = fmt::format(R"(<tr role="row"><th scope="row" role="rowheader"><b>{}</b><small>{}</small></th>)", breakable(row.name),
                                 escaped(row.where));
  html += fmt::format(R"(<td class="bar" role="cell">{}</td><td class="n value" data-unit=" {}" role="cell">{}</td>)", bar(row, most),
                      timed ? chart.unit : "", timed ? figure(row.value) : "");
  html += fmt::format(R"(<td class="n" role="cell">{}</td>)", row.fraction > 0 ? fmt::format("{:.1f}%", 100 * row.fraction) : "");
  html += fmt::format(R"(<td class="n time" role="cell">{}</td>)", timed ? duration(row.seconds) : "");
  html += fmt::format(R"(<td class="text" role="cell">{}{}{}</td>)", does(text), remark("Limited by", text.limit),
                      remark("Shown by", breakable(text.shown_by)));
  html += fmt::format(R"(<td class="check {}" role="cell">{}{}<small>{}</small></td></tr>)", by_chance ? "soft" : verdict_class(row),
                      escaped(row.verdict), by_chance ? " by chance" : "",
                      escaped(row.reason.empty() ? row.configuration : row.reason.substr(0, row.reason.find('\n'))));
  return html + "\n";
}

// A logarithmic axis from a power of ten to a power of ten.
struct Axis {
  double low = 0, high = 1;  // exponents
  double at(double value) const { return std::clamp((std::log10(value) - low) / (high - low), 0.0, 1.0) * 100; }
};

Axis axis_of(const Plot& plot, double Line::Point::*coordinate) {
  double low = 1e300, high = 0;
  for (const Line& line : plot.lines) {
    for (const Line::Point& point : line.points) {
      low = std::min(low, point.*coordinate);
      high = std::max(high, point.*coordinate);
    }
  }
  Axis axis{std::floor(std::log10(low)), std::ceil(std::log10(high))};
  if (axis.high <= axis.low) axis.high = axis.low + 1;
  return axis;
}

std::string tick_text(double exponent) {
  const double value = std::pow(10, exponent);
  return exponent < -3 || exponent > 3 ? fmt::format("10<sup>{:.0f}</sup>", exponent) : fmt::format("{:g}", value);
}

std::string ticks(const Plot& plot, const Axis& x, const Axis& y) {
  std::string html;
  for (double e = y.low; e <= y.high; ++e)
    html += fmt::format(R"(<span class="y" style="bottom:{:.2f}%">{}</span>)", 100 * (e - y.low) / (y.high - y.low), tick_text(e));
  if (!plot.bytes) {
    const double step = std::ceil((x.high - x.low) / 6);
    for (double e = x.low; e <= x.high; e += step)
      html += fmt::format(R"(<span class="x" style="left:{:.2f}%">{}</span>)", 100 * (e - x.low) / (x.high - x.low), tick_text(e));
    return html;
  }
  for (double size = 1024; size <= std::pow(10, x.high); size *= 32) {
    if (std::log10(size) >= x.low)
      html += fmt::format(R"(<span class="x" style="left:{:.2f}%">{}</span>)", x.at(size), byte_size(static_cast<std::uint64_t>(size)));
  }
  return html;
}

std::string stroke(std::size_t series, bool dashed) {
  return fmt::format(R"svg(stroke="var(--s{})" stroke-width="2"{})svg", series % kColours, dashed ? R"( stroke-dasharray="6 4")" : "");
}

}  // namespace

std::string escaped(std::string_view text) {
  const std::string valid = Json::parse(Json(std::string(text)).dump(-1, ' ', false, Json::error_handler_t::replace)).get<std::string>();
  std::string html;
  for (const char c : valid) {
    if (c == '&' || c == '<' || c == '>' || c == '"') {
      html += fmt::format("&#{};", static_cast<int>(c));
    } else {
      html += c;
    }
  }
  return html;
}

std::string figure(double value) {
  return value >= 100  ? fmt::format("{:.0f}", value)
         : value >= 10 ? fmt::format("{:.1f}", value)
         : value >= 1  ? fmt::format("{:.2f}", value)
                       : fmt::format("{:.3g}", value);
}

std::string download(std::string_view name, std::string_view type, std::string_view content, std::string_view label) {
  std::string link = fmt::format(R"(<a download="{}" href="data:{};charset=utf-8,)", name, type);
  for (const char c : content) {
    const bool plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '.' || c == ',' || c == '-' ||
                       c == '_' || c == ':';
    link += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return link + fmt::format("\">{}</a>", label);
}

std::string html_of(const Chart& chart) {
  const double most = highest(chart);
  std::string html =
      fmt::format(R"(<table class="rungs" role="table"><caption>{}</caption><thead role="rowgroup"><tr role="row">)", escaped(chart.title));
  for (const std::string& head : {std::string("Variant"), fmt::format("0 to {} {}", figure(most), chart.unit), chart.unit,
                                  std::string("Of ceiling"), std::string("Time"), std::string("What it does"), std::string("Check")})
    html += fmt::format(R"(<th scope="col" role="columnheader">{}</th>)", head);
  html += "</tr></thead><tbody role=\"rowgroup\">\n";
  for (const Row& row : chart.rows) html += html_row(row, chart, most);
  return html + "</tbody></table>\n";
}

std::string html_of(const Plot& plot) {
  const Axis x = axis_of(plot, &Line::Point::x), y = axis_of(plot, &Line::Point::y);
  std::string drawing, legend, rows;
  for (double e = y.low; e <= y.high; ++e) {
    const double at = 100 - 100 * (e - y.low) / (y.high - y.low);
    drawing += fmt::format(R"(<line class="grid" x1="0" x2="100%" y1="{0:.2f}%" y2="{0:.2f}%"/>)", at);
  }
  for (std::size_t i = 0; i < plot.lines.size(); ++i) {
    const Line& line = plot.lines[i];
    for (std::size_t k = 0; k < line.points.size(); ++k) {
      const Line::Point& point = line.points[k];
      if (k > 0 && line.joined) {
        const Line::Point& last = line.points[k - 1];
        drawing += fmt::format(R"(<line x1="{:.2f}%" y1="{:.2f}%" x2="{:.2f}%" y2="{:.2f}%" {}/>)", x.at(last.x), 100 - y.at(last.y),
                               x.at(point.x), 100 - y.at(point.y), stroke(i, line.dashed));
      }
      const std::string at = plot.bytes ? byte_size(static_cast<std::uint64_t>(point.x)) : figure(point.x);
      const std::string what = escaped(point.what.empty() ? line.name : line.name + ", " + point.what);
      drawing += fmt::format(R"svg(<circle cx="{:.2f}%" cy="{:.2f}%" r="4" fill="var(--s{})"><title>{}: {}, {} {}</title></circle>)svg",
                             x.at(point.x), 100 - y.at(point.y), i % kColours, what, at, figure(point.y), plot.y_name);
      rows += fmt::format("<tr><th scope=\"row\">{}</th><td class=\"n\">{}</td><td class=\"n\">{}</td></tr>\n", what, at, figure(point.y));
    }
    legend += fmt::format(
        R"svg(<li><svg aria-hidden="true"><line x1="0" x2="100%" y1="50%" y2="50%" {}/><circle cx="50%" cy="50%" r="4" fill="var(--s{})"/></svg>{}</li>)svg",
        line.joined ? stroke(i, line.dashed) : "", i % kColours, escaped(line.name));
  }
  return fmt::format(R"(<figure><figcaption>{}: {} over {}</figcaption>
<div class="plot"><svg role="img" aria-label="{}">{}</svg>{}<span class="xname">{}</span></div>
<ul class="legend">{}</ul>
<details><summary>The same as a table</summary><div class="scroll" role="region" tabindex="0" aria-label="{}, as a table"><table>
<thead><tr><th scope="col">Line</th><th scope="col" class="n">{}</th><th scope="col" class="n">{}</th></tr></thead><tbody>
{}</tbody></table></div></details></figure>
)",
                     plot.title, plot.y_name, plot.x_name, escaped(plot.summary), drawing, ticks(plot, x, y), plot.x_name, legend,
                     plot.title, plot.x_name, plot.y_name, rows);
}

std::string html_of(std::string_view title, std::string_view introduction, const std::vector<Section>& sections) {
  std::string navigation, body;
  for (const Section& section : sections) {
    navigation += fmt::format("<li><a href=\"#{}\">{}</a></li>", section.id, section.title);
    body +=
        fmt::format("<section aria-labelledby=\"{0}\"><h2 id=\"{0}\">{1}</h2>\n{2}</section>\n", section.id, section.title, section.html);
  }
  return fmt::format(R"(<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>{0}</title><style>{1}</style></head><body>
<a class="skip" href="#content">To the measurements</a>
<header><h1>{0}</h1>
{2}</header>
<nav aria-label="Sections"><ul>{3}</ul></nav>
<main id="content">
{4}</main></body></html>
)",
                     escaped(title), kStyle, introduction, navigation, body);
}

}  // namespace samesum::cli::report

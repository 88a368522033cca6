#include "svg.hpp"

#include <cmath>
#include <cstdio>

namespace overlapack::bench {
namespace {

/// A coordinate: a hundredth of a pixel is enough.
std::string at(double pixels) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f", pixels);
  return text;
}

std::string attribute(const char* name, const std::string& value) {
  return std::string(" ") + name + "=\"" + value + "\"";
}

std::string escaped(const std::string& text) {
  std::string safe;
  for (const char c : text) {
    switch (c) {
      case '&':
        safe += "&amp;";
        break;
      case '<':
        safe += "&lt;";
        break;
      case '>':
        safe += "&gt;";
        break;
      case '"':
        safe += "&quot;";
        break;
      default:
        safe += c;
    }
  }
  return safe;
}

}  // namespace

Svg::Svg(double width, double height) {
  body_ = "<svg xmlns=\"http://www.w3.org/2000/svg\"" + attribute("width", at(width)) +
          attribute("height", at(height)) +
          attribute("viewBox", "0 0 " + at(width) + " " + at(height)) +
          attribute("font-family", "Helvetica, Arial, 'DejaVu Sans', sans-serif") + ">\n";
  rectangle(0, 0, width, height, "#fff");
}

void Svg::text(double x, double y, const std::string& text, const TextStyle& style) {
  body_ += "<text" + attribute("x", at(x)) + attribute("y", at(y)) +
           attribute("font-size", at(style.size)) + attribute("text-anchor", style.anchor) +
           attribute("fill", style.colour);
  if (style.bold) body_ += attribute("font-weight", "bold");
  if (style.turn != 0) {
    body_ += attribute("transform", "rotate(" + at(style.turn) + " " + at(x) + " " + at(y) + ")");
  }
  body_ += ">" + escaped(text) + "</text>\n";
}

void Svg::line(double x1, double y1, double x2, double y2, const std::string& colour, double width,
               const char* dashes) {
  body_ += "<line" + attribute("x1", at(x1)) + attribute("y1", at(y1)) + attribute("x2", at(x2)) +
           attribute("y2", at(y2)) + attribute("stroke", colour) +
           attribute("stroke-width", at(width));
  if (*dashes != '\0') body_ += attribute("stroke-dasharray", dashes);
  body_ += "/>\n";
}

void Svg::polyline(const std::vector<std::pair<double, double>>& points, const std::string& colour,
                   double width, const char* dashes) {
  std::string list;
  for (const auto& [x, y] : points) list += (list.empty() ? "" : " ") + at(x) + "," + at(y);
  body_ += "<polyline" + attribute("points", list) + attribute("fill", "none") +
           attribute("stroke", colour) + attribute("stroke-width", at(width)) +
           attribute("stroke-linejoin", "round");
  if (*dashes != '\0') body_ += attribute("stroke-dasharray", dashes);
  body_ += "/>\n";
}

void Svg::circle(double x, double y, double radius, const std::string& colour) {
  body_ += "<circle" + attribute("cx", at(x)) + attribute("cy", at(y)) +
           attribute("r", at(radius)) + attribute("fill", colour) + "/>\n";
}

void Svg::rectangle(double x, double y, double width, double height, const std::string& colour,
                    const char* kind, const std::string& tooltip) {
  body_ += "<rect" + attribute("x", at(x)) + attribute("y", at(y)) + attribute("width", at(width)) +
           attribute("height", at(height)) + attribute("fill", colour);
  if (*kind != '\0') body_ += attribute("class", kind);
  body_ += tooltip.empty() ? "/>\n" : "><title>" + escaped(tooltip) + "</title></rect>\n";
}

double Svg::width_of(const std::string& text, double size) {
  return 0.62 * size * static_cast<double>(text.size());
}

std::vector<double> ticks(double low, double high, double count) {
  const double rough = (high - low) / count, power = std::pow(10, std::floor(std::log10(rough)));
  const double leading = rough / power;
  const double step = power * (leading <= 1 ? 1 : leading <= 2 ? 2 : leading <= 5 ? 5 : 10);
  std::vector<double> all;
  for (double k = std::ceil(low / step); k * step <= high * (1 + 1e-12); ++k) {
    all.push_back(k * step);
  }
  return all;
}

std::vector<double> log_ticks(double low, double high) {
  const bool few = high / low < 1e3;
  std::vector<double> all;
  for (double power = std::floor(std::log10(low)); power <= std::ceil(std::log10(high)); ++power) {
    for (const double leading : {1.0, 2.0, 5.0}) {
      const double tick = leading * std::pow(10, power);
      if ((leading == 1 || few) && low <= tick && tick <= high) all.push_back(tick);
    }
  }
  return all;
}

std::string plain(double number) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", number);
  return text;
}

}  // namespace overlapack::bench

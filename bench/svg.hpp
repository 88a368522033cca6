// Pictures as SVG text: shapes, and the scales of axes.
#pragma once

#include <string>
#include <vector>

namespace overlapack::bench {

/// A picture of a fixed size in pixels, drawn from the back to the front. Texts may hold any
/// character.
class Svg {
 public:
  Svg(double width, double height);

  struct TextStyle {
    double size = 12;
    const char* anchor = "start";  ///< start, middle or end: what `x` means
    const char* colour = "#222";
    bool bold = false;
    double turn = 0;  ///< degrees, clockwise
  };
  /// `y` is the base line.
  void text(double x, double y, const std::string& text, const TextStyle& style);
  void line(double x1, double y1, double x2, double y2, const std::string& colour, double width = 1,
            const char* dashes = "");
  void polyline(const std::vector<std::pair<double, double>>& points, const std::string& colour,
                double width, const char* dashes = "");
  void circle(double x, double y, double radius, const std::string& colour);
  /// `kind`, if any, becomes the class of the element, `tooltip` its title.
  void rectangle(double x, double y, double width, double height, const std::string& colour,
                 const char* kind = "", const std::string& tooltip = "");
  /// The finished text.
  std::string str() const { return body_ + "</svg>\n"; }

  /// An upper bound of the width of a text in pixels.
  static double width_of(const std::string& text, double size);

 private:
  std::string body_;
};

/// Round numbers (1, 2 or 5 times a power of ten) from `low` to `high`, about `count` of them.
std::vector<double> ticks(double low, double high, double count);
/// Powers of ten, or their 1, 2 and 5 fold where there are few, in [low, high].
std::vector<double> log_ticks(double low, double high);
/// A number without needless digits: 0.5, 20, 1000.
std::string plain(double number);

}  // namespace overlapack::bench

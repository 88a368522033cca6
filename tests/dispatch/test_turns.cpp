// Who uses the device: several small calls at a time, or one large one, in order.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "dispatch/turns.hpp"

namespace overlapack::dispatch {
namespace {

using Kind = Turns::Kind;
using Turn = Turns::Turn;

void pause() { std::this_thread::sleep_for(std::chrono::milliseconds(20)); }

/// Another thread that asks for a turn, and what has come of it.
class Caller {
 public:
  Caller(Turns& turns, Kind kind)
      : thread_([this, &turns, kind] {
          const Turn turn(turns, kind);
          has_it_ = true;
          while (!leaves_) std::this_thread::yield();
        }) {
    pause();
  }
  ~Caller() { leave(); }
  bool has_it() const { return has_it_; }
  bool gets_it() const {
    while (!has_it_) std::this_thread::yield();
    return true;
  }
  void leave() {
    leaves_ = true;
    if (thread_.joinable()) thread_.join();
  }

 private:
  std::atomic<bool> has_it_{false}, leaves_{false};
  std::thread thread_;
};

TEST(Turns, SmallCallsShareTheDevice) {
  Turns turns;
  EXPECT_FALSE(turns.in_use());
  Caller one(turns, Kind::shared), two(turns, Kind::shared);
  EXPECT_TRUE(one.gets_it() && two.gets_it());
  EXPECT_TRUE(turns.in_use());
  Caller large(turns, Kind::alone);
  EXPECT_FALSE(large.has_it());
  one.leave();
  pause();
  EXPECT_FALSE(large.has_it());
  two.leave();
  EXPECT_TRUE(large.gets_it());
}

TEST(Turns, LargeOnesHaveItAlone) {
  Turns turns;
  Caller large(turns, Kind::alone);
  EXPECT_TRUE(large.gets_it());
  Caller other(turns, Kind::alone), small(turns, Kind::shared);
  EXPECT_FALSE(other.has_it() || small.has_it());
  large.leave();
  EXPECT_TRUE(other.gets_it());
  EXPECT_FALSE(small.has_it());
  other.leave();
  EXPECT_TRUE(small.gets_it());
}

/// Or else a large call would never begin among many small ones.
TEST(Turns, ComeInTheOrderInWhichTheyAreAskedFor) {
  Turns turns;
  Caller first(turns, Kind::shared);
  EXPECT_TRUE(first.gets_it());
  Caller large(turns, Kind::alone), second(turns, Kind::shared);
  EXPECT_FALSE(second.has_it());
  first.leave();
  EXPECT_TRUE(large.gets_it());
  EXPECT_FALSE(second.has_it());
  large.leave();  // or else the second one would wait for it in its destructor
  EXPECT_TRUE(second.gets_it());
}

TEST(Turns, AreForSoManyAtATime) {
  Turns turns;
  std::vector<std::unique_ptr<Caller>> callers;
  for (int i = 0; i < Turns::kMostAtATime + 4; ++i)
    callers.push_back(std::make_unique<Caller>(turns, Kind::shared));
  const auto count = [&] {
    return std::count_if(callers.begin(), callers.end(), [](const auto& c) { return c->has_it(); });
  };
  EXPECT_EQ(count(), Turns::kMostAtATime);
  callers.front()->leave();
  callers[Turns::kMostAtATime]->gets_it();
  pause();
  EXPECT_EQ(count(), Turns::kMostAtATime + 1);
  for (auto& caller : callers) caller->leave();
  EXPECT_FALSE(turns.in_use());
}

}  // namespace
}  // namespace overlapack::dispatch

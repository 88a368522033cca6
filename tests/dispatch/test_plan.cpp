// Which calls go to the device: pure functions of the call, the settings and the profile.
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "device/emulated/emulated_device.hpp"
#include "dispatch/plan.hpp"
#include "dispatch/route.hpp"

namespace overlapack::dispatch {
namespace {

constexpr std::size_t kPlenty = std::size_t{1} << 40;

/// The plan of a call on a device with that much memory, which has Hopper's block sizes.
Plan plan(Routine routine, char type, const Shape& shape, const Settings& settings,
          const Profile& profile, std::size_t memory, bool resident = false) {
  const auto device = make_emulated_device({Schedule::lazy, 1, memory});
  return dispatch::plan(routine, type, shape, settings, profile, device.get(), resident);
}

// ---- Sizes and operation counts -----------------------------------------------------------

TEST(Policy, SizeOfACall) {
  EXPECT_EQ(size_of(Routine::potrf, {500, 500, 0}), 500);
  EXPECT_EQ(size_of(Routine::posv, {500, 500, 7}), 500);
  EXPECT_EQ(size_of(Routine::getrf, {500, 500, 0}), 500);
  EXPECT_EQ(size_of(Routine::gesv, {500, 500, 1}), 500);
  EXPECT_EQ(size_of(Routine::getrf, {8000, 1000, 0}), 2000);  // (8000 * 1000 * 1000)^(1/3)
  EXPECT_EQ(size_of(Routine::getrf, {1000, 8000, 0}), 2000);
  EXPECT_EQ(size_of(Routine::potrs, {5000, 5000, 3}), 3);
  EXPECT_EQ(size_of(Routine::getrs, {50, 50, 300}), 50);
  EXPECT_EQ(size_of(Routine::trtrs, {50, 50, 300}), 50);
  EXPECT_EQ(size_of(Routine::trtrs, {5000, 5000, 0}), 0);
  for (const Routine routine : {Routine::gecon, Routine::pocon, Routine::trcon}) {
    EXPECT_EQ(size_of(routine, {5000, 5000, 0}), 5000);
  }
  for (const Routine routine : {Routine::trtri, Routine::lauum, Routine::potri, Routine::getri}) {
    EXPECT_EQ(size_of(routine, {500, 500, 0}), 500);
  }
  EXPECT_EQ(size_of(Routine::syevd, {500, 500, 500}), 500);
  for (const Routine routine : {Routine::geqrf, Routine::orgqr, Routine::ungqr, Routine::gels}) {
    EXPECT_EQ(size_of(routine, {8000, 1000, 0}), 2000);
  }
  EXPECT_EQ(size_of(Routine::ormqr, {4000, 1000, 1}), 2000);
  EXPECT_EQ(size_of(Routine::getrf, {100000, 100000, 0}), 100000);
  EXPECT_EQ(size_of(Routine::sgesv, {500, 500, 1}), 500);
  EXPECT_EQ(size_of(Routine::cholupdate, {500, 500, 1}), 500);
  EXPECT_EQ(size_of(Routine::cholupdate, {500, 500, 100}), 500);
  EXPECT_EQ(size_of(Routine::cposv, {500, 500, 7}), 500);
}

TEST(Policy, FamiliesOfMixedPrecisionSolversRefine) {
  for (std::size_t r = 0; r < kRoutineCount; ++r) {
    const auto routine = static_cast<Routine>(r);
    EXPECT_EQ(is_mixed(routine), family_of(routine).refines()) << name_of(routine);
  }
}

TEST(Policy, OperationCounts) {
  const Shape square{1000, 1000, 0}, solve{1000, 1000, 10};
  const double n = 1000;
  EXPECT_NEAR(flops_of(Routine::potrf, 'd', square), n * n * n / 3, 2 * n * n);
  EXPECT_NEAR(flops_of(Routine::getrf, 'd', square), 2 * n * n * n / 3, 2 * n * n);
  EXPECT_NEAR(flops_of(Routine::potrs, 'd', solve), 2 * n * n * 10, 20 * n);
  EXPECT_NEAR(flops_of(Routine::getrs, 'd', solve), 2 * n * n * 10, 20 * n);
  EXPECT_NEAR(flops_of(Routine::trtrs, 'd', solve), n * n * 10, 20 * n);
  EXPECT_EQ(flops_done(Routine::trtrs, 'd', solve, 7), 0);
  EXPECT_EQ(flops_of(Routine::gecon, 'd', square), 10 * n * n);
  EXPECT_EQ(flops_of(Routine::pocon, 'z', square), 40 * n * n);
  EXPECT_EQ(flops_of(Routine::trcon, 'd', square), 5 * n * n);
  EXPECT_NEAR(flops_of(Routine::trtri, 'd', square), n * n * n / 3, 2 * n * n);
  EXPECT_NEAR(flops_of(Routine::lauum, 'd', square), n * n * n / 3, 2 * n * n);
  EXPECT_NEAR(flops_of(Routine::potri, 'd', square), 2 * n * n * n / 3, 2 * n * n);
  EXPECT_NEAR(flops_of(Routine::getri, 'd', square), 4 * n * n * n / 3, 2 * n * n);
  EXPECT_EQ(flops_done(Routine::getri, 'd', square, 7), 0);
  EXPECT_NEAR(flops_of(Routine::geqrf, 'd', square), 4 * n * n * n / 3, 2 * n * n);
  EXPECT_NEAR(flops_of(Routine::geqrf, 'd', {3000, 1000, 0}), (6 - 2.0 / 3) * 1e9, 1e7);
  EXPECT_NEAR(flops_of(Routine::geqrf, 'd', {1000, 3000, 0}), (6 - 2.0 / 3) * 1e9, 1e7);
  EXPECT_NEAR(flops_of(Routine::orgqr, 'd', square), 4 * n * n * n / 3, 2 * n * n);
  EXPECT_NEAR(flops_of(Routine::ormqr, 'd', solve), 2 * n * n * 10, 2 * n * n);
  EXPECT_NEAR(flops_of(Routine::gels, 'd', solve), 4 * n * n * n / 3 + 3 * n * n * 10, 2 * n * n);
  EXPECT_NEAR(flops_of(Routine::syevd, 'd', square), 4 * n * n * n / 3, n * n);
  EXPECT_NEAR(flops_of(Routine::heevr, 'z', solve), 4 * (8 * n * n * n / 3 + 2 * n * n * 10),
              n * n);
  EXPECT_NEAR(flops_of(Routine::sygv, 'd', square), 8 * n * n * n / 3, n * n);
  EXPECT_NEAR(flops_of(Routine::sytrd, 'd', square), 4 * n * n * n / 3, n * n);
  EXPECT_NEAR(flops_of(Routine::orgtr, 'd', square), 4 * n * n * n / 3, n * n);
  EXPECT_NEAR(flops_of(Routine::ormtr, 'd', solve), 2 * n * n * 10, n * n);
  EXPECT_EQ(flops_of(Routine::stedc, 'd', square), 0);
  EXPECT_NEAR(flops_of(Routine::stedc, 'd', {1000, 1000, 1000}), 4 * n * n * n / 3, n * n);
  EXPECT_NEAR(flops_of(Routine::gesv, 'd', solve), 2 * n * n * n / 3 + 2 * n * n * 10, 2 * n * n);
  EXPECT_NEAR(flops_of(Routine::posv, 'd', solve), n * n * n / 3 + 2 * n * n * 10, 2 * n * n);
  EXPECT_NEAR(flops_of(Routine::cholupdate, 'd', solve), 2 * n * n * 10, 20 * n);
  EXPECT_EQ(flops_of(Routine::sgesv, 'd', solve), flops_of(Routine::gesv, 'd', solve));
  EXPECT_EQ(flops_of(Routine::cposv, 'z', solve), flops_of(Routine::posv, 'z', solve));
  // m n^2 - n^3 / 3 for a tall matrix, and the same for its transpose.
  EXPECT_NEAR(flops_of(Routine::getrf, 'd', {3000, 1000, 0}), (3 - 1.0 / 3) * 1e9, 1e7);
  EXPECT_NEAR(flops_of(Routine::getrf, 'd', {1000, 3000, 0}), (3 - 1.0 / 3) * 1e9, 1e7);
  // A complex multiply-add is four real ones.
  EXPECT_NEAR(flops_of(Routine::potrf, 'z', square) / flops_of(Routine::potrf, 'd', square), 4,
              0.1);
  EXPECT_NEAR(flops_of(Routine::gesv, 'c', solve) / flops_of(Routine::gesv, 's', solve), 4, 0.1);

  EXPECT_EQ(flops_done(Routine::posv, 'd', solve, 0), flops_of(Routine::posv, 'd', solve));
  EXPECT_EQ(flops_done(Routine::posv, 'd', solve, 1), 0);
  EXPECT_EQ(flops_done(Routine::sposv, 'd', solve, 501),
            flops_of(Routine::potrf, 'd', {500, 500, 0}));
  EXPECT_EQ(flops_done(Routine::gesv, 'd', solve, 1), flops_of(Routine::getrf, 'd', square));
}

TEST(Plans, SendLargeCallsToTheDevice) {
  const Settings settings;
  const Profile profile = builtin_profile();
  const auto device = make_emulated_device();
  const Index threshold = profile.at(Routine::potrf, 'd', device.get());
  const auto where = [&](Index n) {
    const Shape shape{n, n, 0};
    const Plan p =
        dispatch::plan(Routine::potrf, 'd', shape, settings, profile, device.get(), false);
    EXPECT_FALSE(p.why.empty());
    EXPECT_EQ(p.on_device,
              wants_device(Routine::potrf, 'd', shape, settings, profile, device.get()));
    return p.on_device;
  };
  EXPECT_FALSE(where(1));
  EXPECT_FALSE(where(threshold - 1));
  EXPECT_TRUE(where(threshold));
  EXPECT_TRUE(where(8 * threshold));
}

/// As long as there is none, it may be any.
TEST(Plans, TheBreakEvenOfNoDeviceIsTheLeast) {
  const Profile profile = builtin_profile();
  const auto device = make_emulated_device();
  ASSERT_NE(device->tuning().break_even.origin, hopper_tuning().break_even.origin);
  for (std::size_t r = 0; r < kRoutineCount; ++r) {
    const auto routine = static_cast<Routine>(r);
    for (const char type : kTypeLetters) {
      EXPECT_LE(profile.at(routine, type), profile.at(routine, type, device.get()));
      EXPECT_EQ(profile.at(routine, type), profile.at(routine, type, nullptr));
    }
  }
  const Index none = profile.at(Routine::potrf, 'd');
  EXPECT_LT(none, profile.at(Routine::potrf, 'd', device.get()));
  std::string complaint;
  const auto read = parse_profile("dpotrf 300\n", complaint);
  ASSERT_TRUE(read) << complaint;
  EXPECT_EQ(read->at(Routine::potrf, 'd', device.get()), 300) << "of every device";
}

TEST(Plans, LqAndQrByBlocksHaveTheBreakEvensOfQr) {
  const Profile profile = builtin_profile();
  constexpr Routine kPairs[][2] = {
      {Routine::geqrf, Routine::gelqf}, {Routine::orgqr, Routine::orglq},
      {Routine::ungqr, Routine::unglq}, {Routine::ormqr, Routine::ormlq},
      {Routine::unmqr, Routine::unmlq}, {Routine::geqrf, Routine::geqrt},
      {Routine::ormqr, Routine::gemqrt}};
  for (const auto& [qr, other] : kPairs) {
    for (const char type : kTypeLetters) EXPECT_EQ(profile.at(qr, type), profile.at(other, type));
    EXPECT_EQ(size_of(other, {400, 100, 20}), size_of(qr, {100, 400, 20}));
    EXPECT_EQ(flops_of(other, 'd', {300, 300, 20}), flops_of(qr, 'd', {300, 300, 20}));
  }
}

TEST(Plans, EigenproblemsAreForTheDevice) {
  const auto device = make_emulated_device();
  for (std::size_t r = 0; r < kRoutineCount; ++r) {
    const auto routine = static_cast<Routine>(r);
    if (kind_of(routine) != RoutineKind::eigen || routine == Routine::stedc) continue;
    const Shape shape{100000, 100000, 100000};
    EXPECT_TRUE(wants_device(routine, 'd', shape, Settings(), builtin_profile()));
    EXPECT_TRUE(wants_device(routine, 'd', shape, Settings(), builtin_profile(), device.get()));
  }
  const auto is_for_device = [&](Index n) {
    return wants_device(Routine::stedc, 'z', {n, n, n}, Settings(), builtin_profile(),
                        device.get());
  };
  EXPECT_FALSE(is_for_device(100));
  EXPECT_TRUE(is_for_device(5000));
}

TEST(Plans, BreakEvensDependOnTheCores) {
  const Tuning::BreakEven& sizes = hopper_tuning().break_even;
  const auto from = [&](Routine routine, bool solves, Index cores) {
    return family_of(routine).builtin_break_evens(sizes, solves).of('d', cores);
  };
  EXPECT_EQ(from(Routine::getrf, false, 1), sizes.getrf.one_core.d);
  EXPECT_EQ(from(Routine::getrf, false, 16), sizes.getrf.sixteen_cores.d);
  EXPECT_EQ(from(Routine::gesv, true, 16), sizes.gesv.sixteen_cores.d);
  EXPECT_EQ(from(Routine::posv, true, 16), sizes.posv.sixteen_cores.d);
  EXPECT_GT(from(Routine::getrf, false, 2), from(Routine::getrf, false, 8));
  for (const Routine routine : {Routine::potrs, Routine::getrs, Routine::trtrs}) {
    EXPECT_LT(from(routine, true, 1), from(routine, true, 4));
    EXPECT_LT(from(routine, true, 4), from(routine, true, 64));
  }
}

TEST(Plans, AnyNumberOfRightHandSidesPaysForALargeMatrix) {
  Profile profile = builtin_profile();
  for (const Routine routine : {Routine::potrs, Routine::getrs, Routine::trtrs}) {
    for (const char type : {'d', 'z'}) profile.set(routine, type, 100);
  }
  const auto goes = [&](Routine routine, Index n, Index nrhs, char type = 'd') {
    return wants_device(routine, type, {n, n, nrhs}, Settings(), profile);
  };
  EXPECT_FALSE(goes(Routine::potrs, 600, 1));
  EXPECT_TRUE(goes(Routine::potrs, 700, 1));
  EXPECT_FALSE(goes(Routine::getrs, 1000, 99));
  EXPECT_TRUE(goes(Routine::getrs, 1200, 1));
  EXPECT_FALSE(goes(Routine::getrs, 800, 1));
  EXPECT_TRUE(goes(Routine::getrs, 800, 1, 'z')) << "its bytes count";
  EXPECT_FALSE(goes(Routine::getrs, 100000, 0));
  EXPECT_FALSE(goes(Routine::trtrs, 100000, 99));
  EXPECT_TRUE(goes(Routine::trtrs, 100000, 100));
  profile.set(Routine::potrs, 'd', 1000);
  EXPECT_FALSE(goes(Routine::potrs, 1900, 1)) << "a slower GPU, or a faster CPU";
  EXPECT_TRUE(goes(Routine::potrs, 2000, 1));
}

TEST(Plans, MinNOverridesEveryThreshold) {
  Settings settings;
  settings.min_n = 1;
  const Profile profile = builtin_profile();
  for (std::size_t r = 0; r < kRoutineCount; ++r) {
    for (const char type : kTypeLetters) {
      const Shape shape{3, 3, 1};
      EXPECT_TRUE(plan(static_cast<Routine>(r), type, shape, settings, profile, kPlenty).on_device)
          << type << kRoutineNames[r];
    }
  }
  settings.min_n = 1000000;
  EXPECT_FALSE(plan(Routine::getrf, 'd', {9999, 9999, 0}, settings, profile, kPlenty).on_device);
}

TEST(Plans, ReadTheThresholdOfTheRoutineAndType) {
  const Settings settings;
  Profile profile = builtin_profile();
  profile.set(Routine::getrf, 'z', 10);
  const auto on_device = [&](Routine routine, char type) {
    return plan(routine, type, {20, 20, 20}, settings, profile, kPlenty).on_device;
  };
  EXPECT_TRUE(on_device(Routine::getrf, 'z'));
  EXPECT_FALSE(on_device(Routine::getrf, 'd'));
  EXPECT_FALSE(on_device(Routine::gesv, 'z'));
}

TEST(Plans, StayOnTheCpuWithoutADevice) {
  Settings settings;
  settings.min_n = 1;
  const Profile profile = builtin_profile();
  const Shape shape{1000, 1000, 0};
  const Plan none = plan(Routine::potrf, 'd', shape, settings, profile, nullptr);
  EXPECT_FALSE(none.on_device);
  EXPECT_FALSE(none.why.empty());
  settings.device = DeviceChoice::off;
  const Plan off = plan(Routine::potrf, 'd', shape, settings, profile, kPlenty);
  EXPECT_FALSE(off.on_device);
  EXPECT_NE(off.why.find("off"), std::string::npos) << off.why;
  EXPECT_FALSE(wants_device(Routine::potrf, 'd', shape, settings, profile));
}

TEST(Plans, StayOnTheCpuWhereTheDeviceIsTooSmall) {
  Settings settings;
  settings.min_n = 1;
  const Profile profile = builtin_profile();
  const Index n = 10000;  // 800 MB in double precision
  const auto on_device = [&](char type, std::size_t megabytes) {
    return plan(Routine::getrf, type, {n, n, 0}, settings, profile, megabytes * 1000000).on_device;
  };
  EXPECT_FALSE(on_device('d', 60));
  EXPECT_FALSE(on_device('z', 120));
  EXPECT_TRUE(on_device('d', 4000));
  const auto in_core = [&](std::size_t megabytes) {
    return !plan(Routine::getrf, 'd', {n, n, 0}, settings, profile, megabytes * 1000000)
                .out_of_core;
  };
  EXPECT_TRUE(in_core(4000));
  EXPECT_FALSE(in_core(890)) << "nothing is left for the driver, cuBLAS and kernels";
  settings.memory_limit = std::size_t{10} << 30;  // more than there is
  const Plan p = plan(Routine::getrf, 'd', {n, n, 0}, settings, profile, 700000000);
  EXPECT_TRUE(p.out_of_core);
  EXPECT_NE(p.why.find("larger than the device's memory"), std::string::npos) << p.why;
}

TEST(Plans, CountTheRightHandSides) {
  Settings settings;
  settings.min_n = 1;
  const Index n = 1000, nrhs = 20000;  // 8 MB and 160 MB in double precision
  const auto on_device = [&](Routine routine, std::size_t megabytes) {  // all at a time
    const Shape shape{n, n, nrhs};
    const Plan p = plan(routine, 'd', shape, settings, builtin_profile(), megabytes * 1000000);
    return p.on_device && !p.out_of_core;
  };
  for (const Routine routine : {Routine::gesv, Routine::getrs, Routine::potrs, Routine::trtrs}) {
    EXPECT_FALSE(on_device(routine, 150)) << name_of(routine);
    EXPECT_TRUE(on_device(routine, 1000)) << name_of(routine);
  }
  // B below A, and B as it comes and goes.
  EXPECT_FALSE(on_device(Routine::posv, 350));
  EXPECT_TRUE(on_device(Routine::posv, 2100));
  // B, X, the residual and its correction, too.
  EXPECT_FALSE(on_device(Routine::sgesv, 600));
  EXPECT_TRUE(on_device(Routine::sgesv, 2000));
}

TEST(Plans, LowerPrecisionIsForMixedPrecisionSolversOnly) {
  const Index n = 10000;
  const Profile profile = builtin_profile();
  for (const Precision precision : kPrecisions) {
    Settings settings;
    settings.refine = precision;
    const auto planned = [&](Routine routine, char type, std::size_t megabytes = 100000) {
      return plan(routine, type, {n, n, 1}, settings, profile, megabytes << 20);
    };
    for (const Routine routine : {Routine::potrf, Routine::getrf, Routine::posv, Routine::gesv}) {
      for (const char type : {'s', 'd', 'c', 'z'}) {
        EXPECT_EQ(planned(routine, type).precision, Precision::fp32);
      }
    }
    const std::pair<Routine, char> mixed[] = {
        {Routine::sgesv, 'd'}, {Routine::sposv, 'd'}, {Routine::cgesv, 'z'}, {Routine::cposv, 'z'}};
    for (const auto& [routine, type] : mixed) {
      const Plan p = planned(routine, type);
      EXPECT_EQ(p.precision, precision);
      const bool told = p.why.find(std::string("products in ") + name_of(precision) +
                                   " (OVERLAPACK_REFINE)") != std::string::npos;
      EXPECT_EQ(told, precision != Precision::fp32) << p.why;
    }
    EXPECT_EQ(planned(Routine::cposv, 'z', 4300).precision, Precision::fp32);  // does not fit
    settings.strict_fp32 = true;
    EXPECT_EQ(planned(Routine::sgesv, 'd').precision, Precision::fp32);
  }
}

TEST(Plans, SplitOperandsInSinglePrecisionWhereTheyFit) {
  Settings settings;
  settings.min_n = 1;
  const Profile profile = builtin_profile();
  const Index n = 10000;  // 400 MB in float; the split factor of a Cholesky 460 MB more
  const auto split = [&](Routine routine, char type, std::size_t megabytes) {
    const Plan p = plan(routine, type, {n, n, 0}, settings, profile, megabytes * 1000000);
    EXPECT_TRUE(p.on_device);
    return p.split;
  };
  EXPECT_TRUE(split(Routine::potrf, 's', 4000));
  EXPECT_TRUE(split(Routine::potrf, 'c', 10000));
  EXPECT_TRUE(split(Routine::getrf, 's', 4000));
  EXPECT_FALSE(split(Routine::potrf, 'd', 100000));
  EXPECT_FALSE(split(Routine::getrf, 'd', 100000));
  EXPECT_FALSE(split(Routine::potrf, 'z', 100000));
  EXPECT_FALSE(split(Routine::getrf, 'z', 100000));
  EXPECT_TRUE(split(Routine::sgesv, 'd', 100000));
  EXPECT_TRUE(split(Routine::cposv, 'z', 100000));
  EXPECT_FALSE(split(Routine::cposv, 'z', 4500));  // A and its double factorization fit
  EXPECT_FALSE(split(Routine::potrf, 's', 600));
  EXPECT_FALSE(split(Routine::potrf, 'c', 2600));
  EXPECT_TRUE(split(Routine::getrf, 's', 1350));  // of LU only L, and panels as they come
  EXPECT_FALSE(split(Routine::getrf, 's', 590));
  settings.strict_fp32 = true;
  EXPECT_FALSE(split(Routine::potrf, 's', 4000));
}

TEST(Plans, ResiduesInDoublePrecisionWhereTheyFit) {
  Settings settings;
  settings.min_n = 1;
  const Index n = 12000;  // 1152 MB; as residues 2016, and 346 for sums
  const auto planned = [&](Routine routine, char type, std::size_t megabytes) {
    return plan(routine, type, {n, n, 0}, settings, builtin_profile(), megabytes * 1000000);
  };
  for (const auto& [routine, type] : {std::pair(Routine::potrf, 'd'), {Routine::posv, 'd'}}) {
    EXPECT_TRUE(planned(routine, type, 6000).residues);
    EXPECT_EQ(planned(routine, type, 6000).nb, 512);
    EXPECT_TRUE(planned(routine, type, 3000).on_device);
    EXPECT_FALSE(planned(routine, type, 3000).residues);
    EXPECT_EQ(planned(routine, type, 3000).nb, 256);
    // 3521 in all, of nine tenths: 3483 and 3555. With blocks as narrow as without it were 3349.
    EXPECT_FALSE(planned(routine, type, 3870).residues);
    EXPECT_TRUE(planned(routine, type, 3950).residues);
  }
  EXPECT_TRUE(planned(Routine::sposv, 'd', 100000).residues);  // in its fall-back
  EXPECT_EQ(planned(Routine::sposv, 'd', 100000).nb, 256);
  for (const Routine routine : {Routine::getrf, Routine::gesv}) {  // 1487 MB, and 945 for sums
    EXPECT_TRUE(planned(routine, 'd', 6000).residues);
    EXPECT_TRUE(planned(routine, 'd', 4000).by_rows);
    EXPECT_FALSE(planned(routine, 'd', 4000).residues);
  }
  EXPECT_FALSE(planned(Routine::getrf, 's', 100000).residues);
  EXPECT_TRUE(planned(Routine::potrf, 'z', 100000).residues);
  EXPECT_TRUE(planned(Routine::getrf, 'z', 20000).residues);  // 4657 MB, and 2922 for sums
  EXPECT_FALSE(planned(Routine::getrf, 'z', 12000).residues);
  EXPECT_FALSE(planned(Routine::getrf, 'c', 100000).residues);
  const auto nb = [&](char type, std::size_t gigabytes) {
    const Shape large{16384, 16384, 0};
    const auto profile = builtin_profile();
    return plan(Routine::getrf, type, large, settings, profile, gigabytes * 1000000000).nb;
  };
  EXPECT_EQ(nb('z', 40), 256);
  EXPECT_EQ(nb('z', 12), 512) << "no memory for residues";
  EXPECT_EQ(nb('d', 40), 512);
  EXPECT_FALSE(planned(Routine::potrf, 's', 100000).residues);
  settings.strict_fp64 = true;
  EXPECT_FALSE(planned(Routine::potrf, 'd', 100000).residues);
  EXPECT_FALSE(planned(Routine::sposv, 'd', 100000).residues);
  EXPECT_TRUE(planned(Routine::sposv, 'd', 100000).split);
}

TEST(Plans, ColumnsByRowsWhereTheyFit) {
  Settings settings;
  settings.min_n = 1;
  const Index n = 10000;
  const auto planned = [&](Routine routine, char type, std::size_t megabytes) {
    return plan(routine, type, {n, n, 0}, settings, builtin_profile(), megabytes * 1000000);
  };
  struct Case {
    Routine routine;
    char type;
    std::size_t too_few, enough;  // megabytes, of which nine tenths are used
  };
  for (const Case& c : {Case{Routine::getrf, 'd', 1700, 1900},
                        {Routine::gesv, 'z', 3500, 3700},
                        // The split operands of single precision are worth more.
                        {Routine::getrf, 's', 1250, 1350},
                        // A, its factorization in double precision, and that by rows.
                        {Routine::sgesv, 'd', 2600, 2800}}) {
    EXPECT_TRUE(planned(c.routine, c.type, c.too_few).on_device) << c.type;
    EXPECT_FALSE(planned(c.routine, c.type, c.too_few).by_rows) << c.type;
    EXPECT_TRUE(planned(c.routine, c.type, c.enough).by_rows) << c.type;
  }
  EXPECT_FALSE(planned(Routine::potrf, 'd', 100000).by_rows);
  EXPECT_FALSE(planned(Routine::getrs, 'd', 100000).by_rows);
}

TEST(Plans, LeadingTrianglesAreWholeBlocksOfLargeMatricesOfTheHost) {
  Settings settings;
  const Profile profile = builtin_profile();
  const auto leading = [&](Routine routine, char type, Index n, bool resident = false) {
    const Plan result = plan(routine, type, {n, n, 0}, settings, profile, kPlenty, resident);
    EXPECT_EQ(result.leading % result.nb, 0);
    return result.leading;
  };
  EXPECT_EQ(leading(Routine::potrf, 'd', 16384), 11264);
  EXPECT_EQ(leading(Routine::posv, 'd', 16384), 11264);
  EXPECT_EQ(leading(Routine::potrf, 'd', 10240), 5120);
  EXPECT_EQ(leading(Routine::potrf, 'd', 4096), 2048);
  EXPECT_EQ(leading(Routine::potrf, 'z', 16384), 9728);
  EXPECT_EQ(leading(Routine::potrf, 'z', 12288), 7168);
  EXPECT_EQ(leading(Routine::potrf, 'z', 11264), 0);
  for (const auto& [routine, type] : {std::pair(Routine::potrf, 'c'),
                                      {Routine::potrf, 's'},
                                      {Routine::sposv, 'd'},
                                      {Routine::getrf, 'd'}}) {
    EXPECT_EQ(leading(routine, type, 16384), 0);
  }
  settings.strict_fp64 = true;
  EXPECT_EQ(leading(Routine::potrf, 'z', 16384), 0);
  EXPECT_EQ(leading(Routine::potrf, 'd', 16384), 11264);
  settings.strict_fp64 = false;
  EXPECT_EQ(leading(Routine::potrf, 'd', 16384, true), 0);
  EXPECT_EQ(leading(Routine::potrf, 'd', 4095), 0);
  settings.upload = Upload::triangle;
  EXPECT_EQ(leading(Routine::potrf, 's', 4096), 2048);
  EXPECT_EQ(leading(Routine::potrf, 'd', 4096, true), 0);
  settings.upload = Upload::columns;
  EXPECT_EQ(leading(Routine::potrf, 'd', 16384), 0);
}

TEST(Plans, LargeMatricesOfMixedPrecisionGoUpInHalves) {
  Settings settings;
  const Profile profile = builtin_profile();
  const auto halves = [&](Routine routine, Index n, std::size_t memory = kPlenty,
                          bool resident = false) {
    return plan(routine, 'd', {n, n, 1}, settings, profile, memory, resident).halves;
  };
  EXPECT_TRUE(halves(Routine::sgesv, 6144));
  EXPECT_FALSE(halves(Routine::sgesv, 6144, kPlenty, true));
  EXPECT_FALSE(halves(Routine::sgesv, 6143));
  EXPECT_FALSE(halves(Routine::sposv, 20000));
  EXPECT_FALSE(halves(Routine::gesv, 4096));
  const std::size_t matrix = 8 * 8192 * std::size_t{8192};
  EXPECT_FALSE(halves(Routine::sgesv, 8192, 28 * matrix / 10));
  EXPECT_TRUE(halves(Routine::sgesv, 8192, 7 * matrix));
  // Copy threads read the matrix twice.
  const Plan large = plan(Routine::sgesv, 'd', {8192, 8192, 1}, settings, profile, kPlenty);
  settings.threads = 12;
  EXPECT_TRUE(options_of(large, settings, hopper_tuning()).halves);
  settings.threads = 11;
  EXPECT_FALSE(options_of(large, settings, hopper_tuning()).halves);
  settings.upload = Upload::columns;
  EXPECT_FALSE(halves(Routine::sgesv, 8192));
  settings.upload = Upload::halves;
  EXPECT_TRUE(options_of(large, settings, hopper_tuning()).halves);
  settings.min_n = 1;
  EXPECT_TRUE(halves(Routine::sgesv, 100));
  EXPECT_TRUE(halves(Routine::sposv, 100));
}

TEST(Plans, FollowTheForcedAlgorithmAndBlockSize) {
  Settings settings;
  settings.min_n = 1;
  settings.nb = 48;
  const Profile profile = builtin_profile();
  for (const Algorithm algorithm : {Algorithm::tiled, Algorithm::hybrid, Algorithm::textbook}) {
    settings.algorithm = algorithm;
    const Plan p = plan(Routine::getrf, 'd', {500, 500, 0}, settings, profile, kPlenty);
    EXPECT_EQ(p.hybrid, algorithm == Algorithm::hybrid);
    EXPECT_EQ(p.textbook, algorithm == Algorithm::textbook);
    EXPECT_EQ(p.nb, 48);
    EXPECT_EQ(plan(Routine::sposv, 'd', {500, 500, 1}, settings, profile, kPlenty).hybrid,
              algorithm == Algorithm::hybrid);
    for (const Routine other : {Routine::geqrf, Routine::ormqr, Routine::getri, Routine::trtrs}) {
      const Plan q = plan(other, 'd', {500, 500, 500}, settings, profile, kPlenty);
      EXPECT_FALSE(q.hybrid || q.textbook) << name_of(other) << " has no such form";
    }
  }
  settings.nb = 1000000;  // no wider than the matrix
  EXPECT_EQ(plan(Routine::getrf, 'd', {500, 300, 0}, settings, profile, kPlenty).nb, 500);
  settings.algorithm = Algorithm::automatic;
  settings.nb = 0;
  const Plan p = plan(Routine::getrf, 'd', {500, 500, 0}, settings, profile, kPlenty);
  EXPECT_FALSE(p.hybrid);
  EXPECT_GT(p.nb, 0);
}

TEST(Plans, AMemoryLimitMakesLargerCallsSlabs) {
  Settings settings;
  settings.memory_limit = std::size_t{100} << 20;
  const Profile profile = builtin_profile();
  // The matrix once and twice: 2048^2 doubles are 32 MB.
  EXPECT_TRUE(plan(Routine::getrf, 'd', {2048, 2048, 0}, settings, profile, kPlenty).on_device);
  EXPECT_TRUE(plan(Routine::potrf, 'd', {2048, 2048, 0}, settings, profile, kPlenty).on_device);
  for (const Routine routine : {Routine::getrf, Routine::potrf}) {
    const Shape shape{4096, 4096, 0};
    const Plan large = plan(routine, 'd', shape, settings, profile, kPlenty);
    EXPECT_TRUE(large.on_device && large.out_of_core);
    EXPECT_EQ(large.memory, settings.memory_limit);
    EXPECT_EQ(large.why.find("out of core, "), 0u) << large.why;
    EXPECT_NE(large.why.find("OVERLAPACK_MEMORY_LIMIT"), std::string::npos) << large.why;
    const Plan resident = plan(routine, 'd', shape, settings, profile, kPlenty, true);
    EXPECT_FALSE(resident.on_device || resident.out_of_core) << "the CPU cannot read it";
    Settings textbook = settings;
    textbook.algorithm = Algorithm::textbook;
    EXPECT_FALSE(plan(routine, 'd', shape, textbook, profile, kPlenty).on_device);
    Settings little = settings;  // one block of columns, and what passes by
    little.memory_limit = std::size_t{12} << 20;
    EXPECT_FALSE(plan(routine, 'd', shape, little, profile, kPlenty).on_device);
    // No sum of bytes overflows.
    const Index huge = Index{1} << 40;
    EXPECT_FALSE(plan(routine, 'z', {huge, huge, 0}, settings, profile, kPlenty).on_device);
  }
}

TEST(Plans, ACallIsTriedAgainWithTheMemoryThatOthersLeave) {
  EmulatedOptions options;
  options.memory = std::size_t{1} << 30;
  options.taken = options.memory - (std::size_t{100} << 20);
  const auto device = make_emulated_device(options);
  const Shape shape{4096, 4096, 0};
  Plan plan =
      dispatch::plan(Routine::getrf, 'd', shape, Settings(), builtin_profile(), device.get());
  EXPECT_TRUE(plan.on_device && !plan.out_of_core) << plan.why;
  ASSERT_TRUE(retry_out_of_core(Routine::getrf, 'd', shape, Settings(), *device, "all gone", plan));
  EXPECT_TRUE(plan.on_device && plan.out_of_core);
  EXPECT_LE(plan.memory, std::size_t{100} << 20);
  EXPECT_NE(plan.why.find("all gone"), std::string::npos) << plan.why;
  EXPECT_FALSE(retry_out_of_core(Routine::getrf, 'd', shape, Settings(), *device, "", plan));
}

TEST(Plans, UpdatesByFewVectorsStayWithTheCpu) {
  std::string complaint;  // what a profile leaves out keeps its built-in value, what it says counts
  const auto silent = parse_profile("dpotrf 300\n", complaint);
  ASSERT_TRUE(silent) << complaint;
  EXPECT_EQ(silent->at(Routine::cholupdate, 'd'), builtin_profile().at(Routine::cholupdate, 'd'));
  const auto tuned = parse_profile("dcholupdate 1000\n", complaint);
  ASSERT_TRUE(tuned) << complaint;
  EXPECT_EQ(tuned->at(Routine::cholupdate, 'd'), 1000);
  Profile profile = *tuned;
  const auto from = [&](Index k) {
    const Index n = break_even(Routine::cholupdate, 'd', {5000, 5000, k}, Settings(), profile);
    const auto on_device = [&](Index order) {
      return plan(Routine::cholupdate, 'd', {order, order, k}, Settings(), profile, kPlenty)
          .on_device;
    };
    EXPECT_TRUE(on_device(n));
    EXPECT_FALSE(on_device(n - 1));
    return n;
  };
  EXPECT_EQ(from(1), 256000);
  EXPECT_EQ(from(4), 16000);
  EXPECT_EQ(from(8), 4000);
  EXPECT_EQ(from(16), 1000);
  EXPECT_EQ(from(500), 1000);
  EXPECT_EQ(break_even(Routine::posv, 'd', {5000, 5000, 1}, Settings(), profile),
            profile.at(Routine::posv, 'd'));
  profile.set(Routine::cholupdate, 'd', kNever);
  EXPECT_EQ(break_even(Routine::cholupdate, 'd', {5000, 5000, 1}, Settings(), profile), kNever);
  Settings settings;  // what the user says is taken as it is
  settings.min_n = 100;
  const Plan forced =
      plan(Routine::cholupdate, 'd', {100, 100, 1}, settings, builtin_profile(), kPlenty);
  EXPECT_TRUE(forced.on_device);
  EXPECT_EQ(forced.why, "size 100 >= 100 (OVERLAPACK_MIN_N)");
}

TEST(Plans, SaysWhereASizeIsFrom) {
  std::string complaint;
  auto profile = parse_profile("dpotrf 100\n", complaint);
  ASSERT_TRUE(profile) << complaint;
  profile->source = "a file";
  const auto why = [&](Routine routine, char type) {
    return plan(routine, type, {50, 50, 0}, Settings(), *profile, kPlenty).why;
  };
  EXPECT_EQ(why(Routine::potrf, 'd'), "size 50 < 100 (a file)");
  EXPECT_EQ(why(Routine::potrf, 's'), "size 50 < 2048 (built-in)");
}

TEST(Plans, UpdatesOfAFactorTakeLittleMemory) {
  Settings settings;
  settings.min_n = 1;
  settings.memory_limit = std::size_t{2} << 30;
  const Plan large =
      plan(Routine::cholupdate, 's', {100000, 100000, 16}, settings, builtin_profile(), kPlenty);
  EXPECT_TRUE(large.on_device);
  EXPECT_EQ(large.memory, settings.memory_limit);
  settings.memory_limit = std::size_t{2} << 20;
  const Plan narrow =
      plan(Routine::cholupdate, 's', {2500, 2500, 16}, settings, builtin_profile(), kPlenty);
  EXPECT_TRUE(narrow.on_device);
  EXPECT_LT(narrow.nb, 256);
  // Regions are wide beside the vectors that come home with each of them.
  settings.memory_limit = 0;
  for (const Index k : {8, 16, 100}) {
    const Plan p =
        plan(Routine::cholupdate, 'd', {8192, 8192, k}, settings, builtin_profile(), kPlenty);
    EXPECT_TRUE(p.on_device);
    EXPECT_GE(p.nb, 7 * k);
  }
  // So few columns of this one may be staged that they make no whole unit.
  const Plan huge =
      plan(Routine::cholupdate, 'z', {400000, 400000, 2}, settings, builtin_profile(), kPlenty);
  EXPECT_TRUE(huge.on_device);
  EXPECT_GE(huge.nb, 1);
}

}  // namespace
}  // namespace overlapack::dispatch

// What the environment says, and what it may not say.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "dispatch/environment.hpp"
#include "dispatch/settings.hpp"

namespace overlapack::dispatch {
namespace {

TEST(Settings, AreDefaultsInAnEmptyEnvironment) {
  const Settings settings = parse({});
  EXPECT_EQ(settings.device, DeviceChoice::automatic);
  EXPECT_FALSE(settings.min_n.has_value());
  EXPECT_EQ(settings.algorithm, Algorithm::automatic);
  EXPECT_EQ(settings.nb, 0);
  EXPECT_FALSE(settings.strict_fp32);
  EXPECT_EQ(settings.threads, 0);
  EXPECT_TRUE(settings.profile.empty());
  EXPECT_TRUE(settings.cpu_lapack.empty());
  EXPECT_FALSE(settings.verbose);
}

TEST(Settings, EmptyValuesMeanTheDefault) {
  Environment environment;
  for (const Setting& setting : kSettings) environment[setting.name] = "";
  const Settings settings = parse(environment);
  EXPECT_EQ(settings.device, DeviceChoice::automatic);
  EXPECT_FALSE(settings.min_n.has_value());
}

TEST(Settings, KnowWhichProcessOfAParallelProgramItIs) {
  EXPECT_EQ(parse({}).rank, 0);
  EXPECT_EQ(parse({{"OMPI_COMM_WORLD_LOCAL_RANK", "3"}}).rank, 3);
  EXPECT_EQ(parse({{"MPI_LOCALRANKID", "2"}, {"SLURM_LOCALID", "5"}}).rank, 2);
  EXPECT_EQ(parse({{"SLURM_LOCALID", "5"}}).rank, 5);
  for (const char* const strange : {"", "-1", "two", "99999999999999999999", "5000000000"}) {
    SCOPED_TRACE(strange);
    EXPECT_EQ(parse({{"MPI_LOCALRANKID", strange}}).rank, 0);
  }
}

TEST(Settings, DevicesHaveTheNamesThatSettingsHave) {
  EXPECT_EQ(cuda_index_of("cuda:0"), 0);
  EXPECT_EQ(cuda_index_of("cuda:12"), 12);
  for (const char* const other : {"cuda", "cuda:", "cuda:x", "cuda:-1", "host", ""}) {
    EXPECT_FALSE(cuda_index_of(other).has_value()) << other;
  }
}

TEST(Settings, AcceptEveryDocumentedValue) {
  EXPECT_EQ(parse({{"OVERLAPACK_DEVICE", "auto"}}).device, DeviceChoice::automatic);
  EXPECT_EQ(parse({{"OVERLAPACK_DEVICE", "cuda"}}).device, DeviceChoice::cuda);
  EXPECT_FALSE(parse({{"OVERLAPACK_DEVICE", "cuda"}}).cuda_index.has_value());
  EXPECT_EQ(parse({{"OVERLAPACK_DEVICE", "cuda:3"}}).device, DeviceChoice::cuda);
  EXPECT_EQ(parse({{"OVERLAPACK_DEVICE", "cuda:3"}}).cuda_index, 3);
  EXPECT_EQ(parse({{"OVERLAPACK_DEVICE", "host"}}).device, DeviceChoice::host);
  EXPECT_EQ(parse({{"OVERLAPACK_DEVICE", "off"}}).device, DeviceChoice::off);
  EXPECT_EQ(parse({{"OVERLAPACK_MIN_N", "1"}}).min_n, 1);
  EXPECT_EQ(parse({{"OVERLAPACK_MIN_N", "1000000"}}).min_n, 1000000);
  EXPECT_EQ(parse({{"OVERLAPACK_ALGORITHM", "auto"}}).algorithm, Algorithm::automatic);
  EXPECT_EQ(parse({{"OVERLAPACK_ALGORITHM", "tiled"}}).algorithm, Algorithm::tiled);
  EXPECT_EQ(parse({{"OVERLAPACK_ALGORITHM", "hybrid"}}).algorithm, Algorithm::hybrid);
  EXPECT_EQ(parse({{"OVERLAPACK_ALGORITHM", "textbook"}}).algorithm, Algorithm::textbook);
  EXPECT_EQ(parse({{"OVERLAPACK_NB", "96"}}).nb, 96);
  EXPECT_FALSE(parse({{"OVERLAPACK_FP32", "auto"}}).strict_fp32);
  EXPECT_TRUE(parse({{"OVERLAPACK_FP32", "strict"}}).strict_fp32);
  EXPECT_FALSE(parse({{"OVERLAPACK_FP64", "auto"}}).strict_fp64);
  EXPECT_TRUE(parse({{"OVERLAPACK_FP64", "strict"}}).strict_fp64);
  EXPECT_FALSE(parse({{"OVERLAPACK_COPIES", "auto"}}).strict_copies);
  EXPECT_TRUE(parse({{"OVERLAPACK_COPIES", "strict"}}).strict_copies);
  EXPECT_EQ(parse({{"OVERLAPACK_UPLOAD", "auto"}}).upload, Upload::automatic);
  EXPECT_EQ(parse({{"OVERLAPACK_UPLOAD", "columns"}}).upload, Upload::columns);
  EXPECT_EQ(parse({{"OVERLAPACK_UPLOAD", "triangle"}}).upload, Upload::triangle);
  EXPECT_EQ(parse({{"OVERLAPACK_UPLOAD", "halves"}}).upload, Upload::halves);
  EXPECT_EQ(parse({{"OVERLAPACK_REFINE", "auto"}}).refine, Precision::fp32);
  EXPECT_EQ(parse({{"OVERLAPACK_REFINE", "fp32"}}).refine, Precision::fp32);
  EXPECT_EQ(parse({{"OVERLAPACK_REFINE", "tf32"}}).refine, Precision::tf32);
  EXPECT_EQ(parse({{"OVERLAPACK_REFINE", "fp16"}}).refine, Precision::fp16);
  EXPECT_EQ(parse({{"OVERLAPACK_THREADS", "1"}}).threads, 1);
  EXPECT_EQ(parse({{"OVERLAPACK_THREADS", "1024"}}).threads, 1024);
  EXPECT_EQ(parse({{"OVERLAPACK_PROFILE", "/tmp/p"}}).profile, "/tmp/p");
  EXPECT_EQ(parse({{"OVERLAPACK_CPU_LAPACK", "libx.so"}}).cpu_lapack, "libx.so");
  EXPECT_EQ(parse({}).scalapack, Scalapack::automatic);
  EXPECT_EQ(parse({{"OVERLAPACK_SCALAPACK", "off"}}).scalapack, Scalapack::off);
  EXPECT_EQ(parse({{"OVERLAPACK_SCALAPACK", "grid:3"}}).scalapack, Scalapack::grid);
  EXPECT_EQ(parse({{"OVERLAPACK_SCALAPACK", "grid:3"}}).scalapack_ranks, 3);
  EXPECT_EQ(parse({{"OVERLAPACK_SCALAPACK_MIN_N", "77"}}).scalapack_min_n, 77);
  EXPECT_EQ(parse({}).keep_memory, std::chrono::seconds(5));
  EXPECT_EQ(parse({{"OVERLAPACK_KEEP_MEMORY", "0"}}).keep_memory, std::chrono::seconds(0));
  EXPECT_EQ(parse({{"OVERLAPACK_KEEP_MEMORY", "60"}}).keep_memory, std::chrono::minutes(1));
  EXPECT_EQ(parse({{"OVERLAPACK_KEEP_MEMORY", "forever"}}).keep_memory, kForEver);
  EXPECT_EQ(parse({{"OVERLAPACK_MEMORY_LIMIT", "12345"}}).memory_limit, 12345u);
  EXPECT_EQ(parse({{"OVERLAPACK_MEMORY_LIMIT", "3k"}}).memory_limit, 3u << 10);
  EXPECT_EQ(parse({{"OVERLAPACK_MEMORY_LIMIT", "3K"}}).memory_limit, 3u << 10);
  EXPECT_EQ(parse({{"OVERLAPACK_MEMORY_LIMIT", "7M"}}).memory_limit, 7u << 20);
  EXPECT_EQ(parse({{"OVERLAPACK_MEMORY_LIMIT", "2G"}}).memory_limit, std::size_t{2} << 30);
  EXPECT_TRUE(parse({{"OVERLAPACK_VERBOSE", "1"}}).verbose);
  EXPECT_FALSE(parse({{"OVERLAPACK_VERBOSE", "0"}}).verbose);
  EXPECT_TRUE(parse({{"OVERLAPACK_VERBOSE", "./calls"}}).verbose);
  EXPECT_EQ(parse({{"OVERLAPACK_VERBOSE", "./calls"}}).log, "./calls");
  EXPECT_FALSE(parse({{"OVERLAPACK_NVTX", "calls"}}).nvtx_blocks);
  EXPECT_TRUE(parse({{"OVERLAPACK_NVTX", "blocks"}}).nvtx_blocks);
}

TEST(Settings, ComplainOnceAboutABadValueAndIgnoreIt) {
  const std::pair<const char*, const char*> bad[] = {
      {"OVERLAPACK_DEVICE", "gpu"},
      {"OVERLAPACK_DEVICE", "cuda:"},
      {"OVERLAPACK_DEVICE", "cuda:-1"},
      {"OVERLAPACK_DEVICE", "cuda:x"},
      {"OVERLAPACK_DEVICE", "CUDA"},
      {"OVERLAPACK_DEVICE", "cuda:1025"},
      {"OVERLAPACK_MIN_N", "many"},
      {"OVERLAPACK_MIN_N", "0"},
      {"OVERLAPACK_MIN_N", "-5"},
      {"OVERLAPACK_MIN_N", "12x"},
      {"OVERLAPACK_MIN_N", "99999999999999999999999"},
      {"OVERLAPACK_ALGORITHM", "fast"},
      {"OVERLAPACK_NB", "0"},
      {"OVERLAPACK_NB", "1.5"},
      {"OVERLAPACK_FP32", "fast"},
      {"OVERLAPACK_FP32", "STRICT"},
      {"OVERLAPACK_FP64", "fast"},
      {"OVERLAPACK_COPIES", "off"},
      {"OVERLAPACK_UPLOAD", "rows"},
      {"OVERLAPACK_THREADS", "0"},
      {"OVERLAPACK_REFINE", "bf16"},
      {"OVERLAPACK_REFINE", "FP16"},
      {"OVERLAPACK_THREADS", "1025"},
      {"OVERLAPACK_VERBOSE", "yes"},
      {"OVERLAPACK_VERBOSE", "summary:calls"},
      {"OVERLAPACK_KEEP_MEMORY", "-1"},
      {"OVERLAPACK_KEEP_MEMORY", "1.5"},
      {"OVERLAPACK_KEEP_MEMORY", "1000001"},
      {"OVERLAPACK_KEEP_MEMORY", "always"},
      {"OVERLAPACK_NVTX", "all"},
      {"OVERLAPACK_SCALAPACK", "grid:0"},
      {"OVERLAPACK_SCALAPACK", "grid:"},
      {"OVERLAPACK_SCALAPACK", "grid"},
      {"OVERLAPACK_SCALAPACK_MIN_N", "0"},
      {"OVERLAPACK_MEMORY_LIMIT", "0"},
      {"OVERLAPACK_MEMORY_LIMIT", "2T"},
      {"OVERLAPACK_MEMORY_LIMIT", "G"},
      {"OVERLAPACK_MEMORY_LIMIT", "1 G"},
      {"OVERLAPACK_MEMORY_LIMIT", "-1M"},
      {"OVERLAPACK_MEMORY_LIMIT", "9999999999999G"}};
  const Settings defaults = parse({});
  for (const auto& [name, value] : bad) {
    SCOPED_TRACE(std::string(name) + "=" + value);
    std::vector<std::string> complaints;
    const Settings settings = parse({{name, value}}, complaints);
    ASSERT_EQ(complaints.size(), 1u);
    EXPECT_NE(complaints[0].find(name), std::string::npos) << complaints[0];
    EXPECT_NE(complaints[0].find(value), std::string::npos) << complaints[0];
    for (const Setting& setting : kSettings) {
      if (std::string(setting.name) == name) {
        EXPECT_NE(complaints[0].find(setting.values), std::string::npos) << complaints[0];
      }
    }
    EXPECT_EQ(settings.device, defaults.device);
    EXPECT_EQ(settings.min_n, defaults.min_n);
    EXPECT_EQ(settings.algorithm, defaults.algorithm);
    EXPECT_EQ(settings.nb, defaults.nb);
    EXPECT_EQ(settings.strict_fp32, defaults.strict_fp32);
    EXPECT_EQ(settings.strict_fp64, defaults.strict_fp64);
    EXPECT_EQ(settings.strict_copies, defaults.strict_copies);
    EXPECT_EQ(settings.upload, defaults.upload);
    EXPECT_EQ(settings.refine, defaults.refine);
    EXPECT_EQ(settings.threads, defaults.threads);
    EXPECT_EQ(settings.verbose, defaults.verbose);
  }
  std::vector<std::string> complaints;
  parse({{"OVERLAPACK_NB", "x"}, {"OVERLAPACK_MIN_N", "y"}}, complaints);
  EXPECT_EQ(complaints.size(), 2u);
}

TEST(Settings, ComplaintsAreShortAndPrintable) {
  std::vector<std::string> complaints;
  parse({{"OVERLAPACK_VERBOSE", "\x1b[2Jyes"}, {"OVERLAPACK_NB", std::string(100000, 'x')}},
        complaints);
  ASSERT_EQ(complaints.size(), 2u);
  EXPECT_EQ(complaints[0].rfind("OVERLAPACK_NB='xxx", 0), 0) << complaints[0];
  EXPECT_LT(complaints[0].size(), 200u);
  EXPECT_EQ(complaints[1].rfind("OVERLAPACK_VERBOSE='?[2Jyes' is ignored", 0), 0) << complaints[1];
}

TEST(Settings, NoMemoryIsRefusedWithTheReasonAndTheRemedy) {
  std::vector<std::string> complaints;
  EXPECT_EQ(parse({{"OVERLAPACK_MEMORY_LIMIT", "0"}}, complaints).memory_limit, 0u);
  ASSERT_EQ(complaints.size(), 1u);
  for (const char* const text :
       {"OVERLAPACK_MEMORY_LIMIT='0'", ">= 1", "unset", "OVERLAPACK_DEVICE=off"}) {
    EXPECT_NE(complaints[0].find(text), std::string::npos) << complaints[0];
  }
}

TEST(Settings, TheLogOfASummaryIsMarked) {
  const Settings plain = parse({{"OVERLAPACK_VERBOSE", "/tmp/summary:/calls"}});
  EXPECT_EQ(plain.log, "/tmp/summary:/calls");
  EXPECT_FALSE(plain.log_of_summary);
  const Settings summary = parse({{"OVERLAPACK_VERBOSE", "summary:/tmp/calls"}});
  EXPECT_TRUE(summary.verbose && summary.log_of_summary);
  EXPECT_EQ(summary.log, "/tmp/calls");
}

TEST(Settings, WhatIsCalledLikeOneAndIsNoneIsNamed) {
  const char* const environment[] = {
      "OVERLAPACK_MINN=5",     "PATH=/bin",       "OVERLAPACK_MIN_N=5",
      "OVERLAPACK_ROOT=/opt",  "OVERLAPACK_QZ=1", "OVERLAPACK_EMPTY=",
      "OVERLAPACK_DEVCIE=off", "OVERLAPACK_NB",   nullptr};
  const std::vector<std::string> expected = {
      "no setting is called 'OVERLAPACK_MINN'; did you mean OVERLAPACK_MIN_N?",
      "no setting is called 'OVERLAPACK_QZ'",
      "no setting is called 'OVERLAPACK_DEVCIE'; did you mean OVERLAPACK_DEVICE?"};
  EXPECT_EQ(unknown_settings(environment), expected);
  EXPECT_TRUE(unknown_settings(nullptr).empty());
}

TEST(Settings, AQuestionOfTheCommandLogsNoCall) {
  std::vector<std::string> complaints;
  EXPECT_FALSE(parse({{"OVERLAPACK_VERBOSE", "question:/tmp/answer"}}, complaints).verbose);
  EXPECT_TRUE(complaints.empty());
}

TEST(Settings, AllVariablesAreDocumented) {
  const char* const names[] = {
      "OVERLAPACK_DEVICE",  "OVERLAPACK_MIN_N",   "OVERLAPACK_ALGORITHM", "OVERLAPACK_NB",
      "OVERLAPACK_FP32",    "OVERLAPACK_THREADS", "OVERLAPACK_PROFILE",   "OVERLAPACK_CPU_LAPACK",
      "OVERLAPACK_VERBOSE", "OVERLAPACK_REFINE",  "OVERLAPACK_COPIES",    "OVERLAPACK_NVTX"};
  for (const std::string name : names) {
    int found = 0;
    for (const Setting& setting : kSettings) found += setting.name == name ? 1 : 0;
    EXPECT_EQ(found, 1) << name;
  }
}

std::size_t place_of(const std::string& name) {
  std::size_t place = 0;
  while (kSettings.at(place).name != name) ++place;
  return place;
}

TEST(Settings, OneOfThemCanBeChanged) {
  const Settings first = parse({{"OVERLAPACK_NB", "32"}, {"SLURM_LOCALID", "5"}});
  EXPECT_EQ(first.given[place_of("OVERLAPACK_NB")], "32");
  EXPECT_EQ(first.given[place_of("OVERLAPACK_VERBOSE")], "");
  const std::optional<Settings> second = with(first, place_of("OVERLAPACK_VERBOSE"), "./calls");
  ASSERT_TRUE(second);
  EXPECT_EQ(second->log, "./calls");
  EXPECT_EQ(second->nb, 32);
  EXPECT_EQ(second->rank, 5);
  const std::optional<Settings> third = with(*second, place_of("OVERLAPACK_NB"), "");
  ASSERT_TRUE(third);
  EXPECT_EQ(third->nb, 0);
  EXPECT_EQ(third->given[place_of("OVERLAPACK_NB")], "");
  EXPECT_TRUE(third->verbose);
  EXPECT_FALSE(with(*third, place_of("OVERLAPACK_NB"), "wide"));
}

TEST(Settings, AreFixedIfTheirValueIsInUse) {
  for (const Setting& setting : kSettings) {
    const std::string name = setting.name;
    EXPECT_EQ(setting.fixed, name == "OVERLAPACK_DEVICE" || name == "OVERLAPACK_PROFILE" ||
                                 name == "OVERLAPACK_CPU_LAPACK" || name == "OVERLAPACK_NVTX" ||
                                 name == "OVERLAPACK_SCALAPACK" ||
                                 name == "OVERLAPACK_SCALAPACK_MIN_N")
        << name;
  }
}

TEST(Settings, CopyThreadsLeaveCoresToTheOthers) {
  Settings settings;
  EXPECT_EQ(copy_threads(settings, 1), 1);
  EXPECT_EQ(copy_threads(settings, 4), 1);
  EXPECT_EQ(copy_threads(settings, 8), 5);
  EXPECT_EQ(copy_threads(settings, 16), 13);
  EXPECT_EQ(copy_threads(settings, 128), 13);
  settings.threads = 40;
  EXPECT_EQ(copy_threads(settings, 4), 40);
}

}  // namespace
}  // namespace overlapack::dispatch

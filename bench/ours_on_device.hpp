// The library's own call on a matrix that lies in the device's memory.
#pragma once

#include "bench.hpp"
#include "resident_matrix.hpp"

namespace overlapack::bench {

template <class T>
class OursOnDevice final : public Contender<T> {
 public:
  OursOnDevice(Device& device, const Call& call)
      : matrix_(device, call.shape.m, call.shape.n, call.lda) {}

  void prepare(Problem<T>& problem) override {
    matrix_.upload(problem.a());
    problem.lend_a(matrix_.view().data);
  }
  void run(Problem<T>& problem) override { ours_.run(problem); }
  void finish(Problem<T>& problem) override {
    problem.lend_a(nullptr);
    matrix_.download(problem.a());
  }

 private:
  tools::Ours<T> ours_;
  ResidentMatrix<T> matrix_;
};

}  // namespace overlapack::bench

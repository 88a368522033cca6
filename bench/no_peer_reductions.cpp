// Stands in for peer_reductions.cu where there is no CUDA toolkit.
#include <stdexcept>

#include "peer_reductions.hpp"

namespace overlapack::bench {
namespace {
constexpr const char* kReason = "not built (no CUDA toolkit was found)";
}

template <class T>
PeerReduction reduce_by_peer(Peer, Norm, const T*, Index, int, int, int) {
  throw std::runtime_error(kReason);
}
template PeerReduction reduce_by_peer(Peer, Norm, const float*, Index, int, int, int);
template PeerReduction reduce_by_peer(Peer, Norm, const double*, Index, int, int, int);

double measure_memory(int) { throw std::runtime_error(kReason); }

}  // namespace overlapack::bench

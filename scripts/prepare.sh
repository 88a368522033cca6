# Sourced by scripts/demo, scripts/test and scripts/benchmark: finds out what is missing on this
# machine and installs it with apt-get. Nothing is asked. Where nothing can be installed the caller
# goes on with what there is. With --help the caller prints the comment at its head instead.
case ${1:-} in
  -h | --help) sed -n '2,/^set/s/^# \?//p' "scripts/${0##*/}" && exit ;;
esac

# Debian's programs come with Debian's Python packages; another python3 on PATH may hide them.
system_python=/usr/bin/python3
[ -x "$system_python" ] || system_python=$(command -v python3 || echo python3)
# python_with MODULE: a Python here that has it, or else the system's.
python_with() {
  local python
  for python in python3 "$system_python"; do
    "$python" -c "import $1" 2>/dev/null && echo "$python" && return
  done
  echo "$system_python"
}
# Where CUDA's packages put nvcc without touching PATH.
if ! command -v nvcc >/dev/null && [ -x /usr/local/cuda/bin/nvcc ]; then
  PATH=$PATH:/usr/local/cuda/bin
fi

missing=()

# need PACKAGE COMMAND...: PACKAGE is missing if COMMAND fails.
need() {
  local package=$1
  shift
  "$@" >/dev/null 2>&1 || missing+=("$package")
}
has_header() { echo "#include <$1>" | c++ -std=c++17 -x c++ -fsyntax-only -; }
has_library() { echo 'int main() {}' | c++ -x c++ - "-l$1" -o /dev/null; }
has_module() { "$system_python" -c "import $1"; }
has_file() { compgen -G "$1"; }

need_for_building() {
  need g++ command -v c++
  need cmake command -v cmake
  need ninja-build command -v ninja
  need python3 command -v "$system_python"
  need libopenblas-dev has_library openblas
  need libcli11-dev has_header CLI/CLI.hpp
  need nlohmann-json3-dev has_header nlohmann/json.hpp
}

need_for_testing() {
  need libgtest-dev has_header gtest/gtest.h
  need gfortran command -v gfortran
  need pkg-config command -v pkg-config
  need liblapacke-dev has_library lapacke
  need libqrupdate-dev has_library qrupdate
  need octave command -v octave-cli
  need liblapack-test has_file '/usr/lib/*/lapack/xlintstd'
  need mpich command -v mpirun.mpich
  need openmpi-bin command -v mpirun.openmpi
  need libscalapack-openmpi-dev has_library scalapack-openmpi
  need scalapack-mpi-test has_file '/usr/lib/*/scalapack/openmpi-tests/xdllt'
  need python3-numpy has_module numpy
  need python3-scipy has_module scipy
  need python3-matplotlib has_module matplotlib
  need python3-venv has_module ensurepip
  need r-base-core command -v Rscript
  need dpkg-dev command -v dpkg-shlibdeps
  need file command -v file
  need groff-base command -v groff
}

as_root() {
  if [ "$(id -u)" = 0 ]; then "$@"; else sudo -n "$@"; fi
}

install_missing() {
  [ ${#missing[@]} -gt 0 ] || return 0
  echo "-- Missing on this machine: ${missing[*]}"
  if as_root apt-get update -qq &&
    as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
      "${missing[@]}"; then
    return 0
  fi
  echo "-- They could not be installed (that takes apt-get, a network, and root or sudo without a"
  echo "-- password); going on without them."
}

# build TARGET...: configures and builds in build/, by the preset in BUILD_PRESET.
build() {
  cmake --preset "${BUILD_PRESET:-default}"
  cmake --build build --parallel "$(nproc)" --target "$@"
}

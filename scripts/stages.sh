# Sourced by scripts/benchmark and scripts/gpu-check.

# check_stages KNOWN STAGE...: exits with 2 if a STAGE is not one word of KNOWN.
check_stages() {
  local known=" $1 " stage
  for stage in "${@:2}"; do
    if [[ -z $stage || $stage == *" "* || $known != *" $stage "* ]]; then
      echo "${0##*/}: there is no stage '$stage'; --help lists them" >&2
      exit 2
    fi
  done
}

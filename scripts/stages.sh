# Sourced by scripts/benchmark and scripts/gpu-check.

# folder_for_results FOLDER: makes it where it is missing, and prints its absolute path. A caller
# without it would measure for minutes and write elsewhere.
folder_for_results() {
  if mkdir -p "$1" && [ -w "$1" ] && (cd "$1" && pwd); then return; fi
  echo "${0##*/}: cannot write into the folder '$1'" >&2
  return 1
}

# check_files FOLDER NAME...: exits with 1 if one of these files could not be written there.
check_files() {
  local folder=$1 name
  for name in "${@:2}"; do
    if [[ -e $folder/$name && (-d $folder/$name || ! -w $folder/$name) ]]; then
      echo "${0##*/}: cannot write the file '$folder/$name'" >&2
      exit 1
    fi
  done
}

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

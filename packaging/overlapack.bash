# Completion for bash: the command's own help says which subcommands and options there are. Where
# nothing is offered here, bash offers files.
_overlapack() {
  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}
  local before=" ${COMP_WORDS[*]:1:COMP_CWORD-1} " words
  if [ "$COMP_CWORD" = 1 ]; then
    words=$("$1" --help | sed -n '/^Subcommands:/,/^$/s/^  \([a-z]\+\) .*/\1/p')
    COMPREPLY=($(compgen -W "$words --help --version" -- "$cur"))
  elif [ "$prev" = -- ]; then
    COMPREPLY=($(compgen -c -- "$cur"))  # the program of `overlapack run`
  elif [[ $cur == -* && $before != *" -- "* ]]; then
    words=$("$1" "${COMP_WORDS[1]}" --help | grep -oE '^ +-[^ ]+' | tr -s ' ,' '\n')
    COMPREPLY=($(compgen -W "$words" -- "$cur"))
  fi
}
complete -o default -F _overlapack overlapack

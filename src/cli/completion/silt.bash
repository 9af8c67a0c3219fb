# Completion of silt for bash: source this file, or install it as share/bash-completion/completions/silt.
# Commands and options are asked from the program itself, which answers within a millisecond or two.

_silt_commands() {
    "$1" help 2>/dev/null | sed -n '/^commands:/,/^$/s/^  \([a-z-]*\) .*/\1/p'
}

_silt_options() {
    "$1" help ${2:+"$2"} 2>/dev/null | sed -n '/^options:/,/^$/s/^  *\(-[A-Za-z], \)\{0,1\}\(--[a-z-]*\).*/\2/p'
}

_silt() {
    local program=$1 word=$2 before=$3 command=
    [[ $COMP_CWORD -gt 1 && ${COMP_WORDS[1]} != -* ]] && command=${COMP_WORDS[1]}
    COMPREPLY=()
    case $before in
    -o | --format)
        mapfile -t COMPREPLY < <(compgen -W "table csv json jsonl parquet" -- "$word")
        return
        ;;
    --warehouse)
        mapfile -t COMPREPLY < <(compgen -d -- "$word")
        return
        ;;
    esac
    if [[ $word == -* ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$(_silt_options "$program" "$command")" -- "$word")
    elif [[ $COMP_CWORD -eq 1 || $command == help ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$(_silt_commands "$program")" -- "$word")
    elif [[ $COMP_CWORD -eq 2 && $command != sql && -n ${SILT_WAREHOUSE-} && $word != */* ]]; then
        # names of the warehouse, beside the files that the shell offers
        mapfile -t COMPREPLY < <(
            cd "$SILT_WAREHOUSE" 2>/dev/null && compgen -d -- "$word" | while read -r name; do
                [[ -d $name/_delta_log ]] && printf '%s\n' "$name"
            done
        )
    fi
}

complete -o default -o bashdefault -F _silt silt

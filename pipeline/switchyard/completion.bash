# Completion of switchyard for bash: source <(switchyard completion bash)
_switchyard() {
    local IFS=$'\n'
    COMPREPLY=($("${COMP_WORDS[0]}" complete -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null | cut -f1))
    [[ "${COMPREPLY[*]}" == *= ]] && compopt -o nospace 2>/dev/null
    return 0
}
complete -o default -F _switchyard switchyard

#compdef switchyard
# Completion of switchyard for zsh: switchyard completion zsh > "${fpath[1]}/_switchyard"
_switchyard() {
    local -a lines names
    lines=("${(@f)$("${words[1]}" complete -- "${(@)words[2,CURRENT]}" 2>/dev/null)}")
    names=("${(@)lines%%$'\t'*}")
    if [[ -n "${names[1]}" ]]; then
        if [[ "${names[1]}" == *= ]]; then
            compadd -S '' -- "${names[@]}"
        else
            compadd -- "${names[@]}"
        fi
    else
        _files
    fi
}
if [[ "${funcstack[1]}" == _switchyard ]]; then
    _switchyard "$@"
else
    compdef _switchyard switchyard
fi

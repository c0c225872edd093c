# Completion of switchyard for fish: switchyard completion fish | source
function __switchyard_complete
    set -l words (commandline -opc) (commandline -ct)
    set -l found ($words[1] complete -- $words[2..-1] 2>/dev/null)
    if test (count $found) -gt 0
        printf '%s\n' $found
    else
        __fish_complete_path (commandline -ct)
    end
end
complete -c switchyard -f -a '(__switchyard_complete)'

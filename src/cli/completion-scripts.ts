/** Each script passes the words on the line to `plugboard completion words` and offers its output. */
export const completionScripts = {
  bash: `_plugboard() {
  local words=("\${COMP_WORDS[@]:1:COMP_CWORD}")
  local IFS=$'\\n'
  COMPREPLY=($(plugboard completion words -- "\${words[@]}" 2>/dev/null))
}
complete -o default -F _plugboard plugboard
`,
  zsh: `#compdef plugboard
_plugboard() {
  local -a candidates
  candidates=("\${(@f)$(plugboard completion words -- "\${words[@]:1:$((CURRENT - 1))}" 2>/dev/null)}")
  if [[ -n "$candidates" ]]; then compadd -- "\${candidates[@]}"; else _files; fi
}
if [[ "$funcstack[1]" = "_plugboard" ]]; then _plugboard "$@"; else compdef _plugboard plugboard; fi
`,
  fish: `function __plugboard_complete
  set -l words (commandline -opc) (commandline -ct)
  plugboard completion words -- $words[2..-1] 2>/dev/null
end
complete -c plugboard -f -a '(__plugboard_complete)'
`,
};

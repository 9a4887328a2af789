/**
 * Each script passes what is typed to `plugboard completion words` and offers the lines of its output. They quote names
 * themselves, except bash, which cannot: `--bash` does it there. What ends with `=`, `/` or `:` goes on, so no space
 * follows it. Without candidates they offer files.
 */
export const completionScripts = {
  bash: `_plugboard() {
  local word
  COMPREPLY=()
  while IFS= read -r word; do
    COMPREPLY+=("$word")
  done < <(plugboard completion words --bash -- "\${COMP_LINE:0:COMP_POINT}" "$2" 2>/dev/null </dev/null)
  if [[ "\${COMPREPLY[0]}" == *[=/:] ]]; then compopt -o nospace 2>/dev/null; fi
}
complete -o default -F _plugboard plugboard
`,
  zsh: `#compdef plugboard
_plugboard() {
  local -a candidates
  candidates=("\${(@f)$(plugboard completion words -- "\${(@Q)words[2,CURRENT-1]}" "\${(Q)PREFIX}" 2>/dev/null </dev/null)}")
  candidates=("\${(@)candidates:#}")
  if (( $#candidates )); then
    compadd -S '' -- "\${(@M)candidates:#*[=/:]}"
    compadd -- "\${(@)candidates:#*[=/:]}"
  else
    compset -P '*='
    _files
  fi
}
if [[ "$funcstack[1]" = "_plugboard" ]]; then _plugboard "$@"; else compdef _plugboard plugboard; fi
`,
  fish: `function __plugboard_complete
  set -l typed (commandline -ct)
  set -l words (commandline -opc) (string unescape -- "$typed"; or string trim -l -c '"\\'' -- "$typed")
  set -l candidates (plugboard completion words -- $words[2..-1] 2>/dev/null </dev/null)
  if set -q candidates[1]
    printf '%s\\n' $candidates
  else
    set -l key (string match -r '^[^=]*=' -- "$typed")
    __fish_complete_path (string replace -- "$key" '' "$typed") | string replace -r '^' -- "$key"
  end
end
complete -c plugboard -f -a '(__plugboard_complete)'
`,
};

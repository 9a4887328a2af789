/** Ordinary settings whose names begin like those below. */
const harmless =
  /^(?:NODE_(?:ENV|DEBUG|NO_WARNINGS|DISABLE_COLORS)|PYTHON(?:UNBUFFERED|IOENCODING|UTF8|DONTWRITEBYTECODE|HASHSEED|FAULTHANDLER|OPTIMIZE)|DOTNET_(?:ENVIRONMENT|NOLOGO|CLI_TELEMETRY_OPTOUT))$/;

const loading = [
  // What programs and interpreters load or run.
  /^(?:PATHEXT|COMSPEC|SHELL|BASH_ENV|ENV|SHELLOPTS|BASHOPTS|ZDOTDIR|PS4|PROMPT_COMMAND|IFS|EDITOR|VISUAL|PAGER|BROWSER)$/,
  /^(?:(?:LD|DYLD|NODE|LUA|PHP|BUN|DENO|TSX|ELECTRON|CORECLR|DOTNET|COR)_|PYTHON|PERL|RUBY|BASH_FUNC_|PHPRC$)/,
  /^_?JAVA_.*OPTIONS$|^(?:JDK_JAVA_OPTIONS|JAVA_HOME|CLASSPATH|PSMODULEPATH|GOFLAGS|RUSTC_WRAPPER)$/,
  /^(?:SSH_ASKPASS.*|GIT_(?:SSH.*|ASKPASS|.*EDITOR|PAGER|EXTERNAL_DIFF|EXEC_PATH|TEMPLATE_DIR|PROXY_COMMAND|DIR|WORK_TREE|CONFIG.*))$/,
  // Where packages are installed from, and which configuration is read.
  /^(?:NPM_CONFIG|PNPM|YARN|UV|PIP|PIPX|CARGO|XDG)_|^DOCKER_(?:HOST|CONFIG|CONTEXT|CERT_PATH)$/,
  /^(?:HOME|USERPROFILE|APPDATA|LOCALAPPDATA|KUBECONFIG)$/,
];

/** Where programs are looked up, where traffic goes, and whom it trusts. */
const leading = /^(?:PATH|TMPDIR|(?:HTTPS?|ALL|NO|FTP)_PROXY|SSL_CERT_(?:FILE|DIR))$/;

/** True if a variable of this name can make a program run other code than its command line says. */
export function loadsOtherCode(name: string): boolean {
  const upper = name.toUpperCase();
  return !harmless.test(upper) && loading.some((pattern) => pattern.test(upper));
}

/** True if a variable of this name can decide which code a program runs, or where it connects to. */
export function decidesWhatRuns(name: string): boolean {
  return loadsOtherCode(name) || leading.test(name.toUpperCase());
}

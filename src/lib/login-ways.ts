/** How a person is led to the page where they agree; without any of these the login waits for a browser in vain. */
export interface LoginWays {
  /** Shows a person the page. The address is safe to open, and rejecting means only that they open it themselves. */
  openUrl?: ((url: URL) => void | Promise<void>) | undefined;
  /** Asks for the address that the browser ended at, for machines whose browser is elsewhere. */
  askRedirect?: ((url: URL, signal: AbortSignal) => Promise<string | undefined>) | undefined;
  /** Uses a code that is typed in elsewhere; shows it. */
  device?: ((prompt: DevicePrompt) => void | Promise<void>) | undefined;
}

/** What a person does on another device. */
export interface DevicePrompt {
  /** The host of the authorization server: who asks. */
  issuer: string;
  /** Where to go; safe to open. */
  url: string;
  /** What to type there. */
  code: string;
  expiresInMs: number;
  /** What a person should look at before they go there. */
  warning?: string | undefined;
}

/** Carries the messages of a test client as text, and hands over what comes back with the name of its stream. */
export interface Wire {
  readonly transport: "http" | "stdio";
  /** Called for every message that arrives. `stream` is the id of a request, `standing` or `pipe`. */
  onMessage: (text: string, stream: string, status: number) => void;
  /** Sends one message. Resolves when its answer has been read as far as it will ever come. */
  send(text: string, about: Sending): Promise<Delivered>;
  /** Legacy over HTTP: opens the stream that belongs to no request. Does nothing elsewhere. */
  openStanding(): Promise<Delivered>;
  /** Leaves as a client does that ends properly. */
  close(): Promise<void>;
  /** Leaves as a client does that crashed. */
  disconnect(): void;
}

export interface Sending {
  /** The stream's name for what comes back. */
  stream: string;
  headers?: Record<string, string>;
  /** Over HTTP: closes the request. */
  signal?: AbortSignal;
}

export interface Delivered {
  /** HTTP status; 200 on a pipe. */
  status: number;
  headers: Headers;
  /** What came if it was not a message. */
  body: string;
}

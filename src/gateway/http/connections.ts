import type { Socket } from "node:net";
import type { Held, Holding } from "../holding.ts";
import type { Ledger } from "../ledger.ts";

/** Who has sent nothing yet. No caller has an empty id. */
const unknown = "";

/** A connection of a client. While nothing is under way on it, it can make room for another. */
export class ClientConnection implements Held {
  /** Requests that wait for an answer, those that listen not counted. */
  open = 0;
  readonly #socket: Socket;
  readonly #ledger: Ledger;
  #holding: Holding | undefined;
  #spare: Holding | undefined;
  /** How often it is being asked who sends a request. */
  #asking = 0;
  #isClosed = false;

  constructor(socket: Socket, ledger: Ledger) {
    this.#socket = socket;
    this.#ledger = ledger;
    this.#holding = ledger.hold(unknown, "connections", this);
    if (!this.#holding) this.#spare = ledger.hold(unknown, "spareConnections", this);
    if (!this.#holding && !this.#spare) this.evict();
  }

  /** Who sends requests on it, as far as it is known. */
  get caller(): string {
    return this.#holding?.caller ?? unknown;
  }

  /** A request of this caller came. False if too many connections are in use already, or its client is gone by now. */
  admit(caller: string): boolean {
    if (this.#isClosed) return false;
    const holding = (this.#holding ??= this.#ledger.hold(caller, "connections", this));
    if (!holding) return false;
    if (this.#spare) this.#leaveSpare();
    if (holding.caller !== caller && !holding.moveTo(caller)) return false;
    holding.touch();
    return true;
  }

  /**
   * Waits to learn who sends a request. The question goes on when the client closes the connection, so the connection
   * keeps its place until there is an answer: otherwise one client could have any number of them asked.
   */
  async asking<T>(answer: Promise<T>): Promise<T> {
    this.open++;
    this.#asking++;
    try {
      return await answer;
    } finally {
      this.open--;
      this.#asking--;
      if (this.#isClosed) this.close();
    }
  }

  isBusy(): boolean {
    return this.open > 0 || this.#socket.writableLength > 0;
  }

  evict(): void {
    this.#socket.destroy();
  }

  /** The client is gone. */
  close(): void {
    this.#isClosed = true;
    if (this.#asking > 0) return;
    this.#holding?.release();
    this.#leaveSpare();
  }

  #leaveSpare(): void {
    this.#spare?.release();
    this.#spare = undefined;
  }
}

/** The connections of the servers that this gateway opened. */
export class Connections {
  readonly #ledger: Ledger;
  readonly #bySocket = new WeakMap<Socket, ClientConnection>();

  constructor(ledger: Ledger) {
    this.#ledger = ledger;
  }

  readonly add = (socket: Socket): void => {
    const connection = new ClientConnection(socket, this.#ledger);
    this.#bySocket.set(socket, connection);
    socket.once("close", () => connection.close());
  };

  of(socket: Socket): ClientConnection | undefined {
    return this.#bySocket.get(socket);
  }
}

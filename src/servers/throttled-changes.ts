import type { CatalogChanged } from "../events.ts";

const pauseMs = 200;

interface Pause {
  timer: NodeJS.Timeout;
  last: CatalogChanged | undefined;
}

/** Emits list changes immediately, but each kind at most once per 200 ms; the last change is always emitted. */
export class ThrottledChanges {
  readonly #emit: (event: CatalogChanged) => void;
  readonly #pauses = new Map<CatalogChanged["kind"], Pause>();

  constructor(emit: (event: CatalogChanged) => void) {
    this.#emit = emit;
  }

  add(event: CatalogChanged): void {
    const pause = this.#pauses.get(event.kind);
    if (pause) {
      pause.last = event;
      return;
    }
    const timer = setTimeout(() => this.#resume(event.kind), pauseMs);
    timer.unref();
    this.#pauses.set(event.kind, { timer, last: undefined });
    this.#emit(event);
  }

  close(): void {
    for (const { timer } of this.#pauses.values()) clearTimeout(timer);
    this.#pauses.clear();
  }

  #resume(kind: CatalogChanged["kind"]): void {
    const last = this.#pauses.get(kind)?.last;
    this.#pauses.delete(kind);
    if (last) this.add(last);
  }
}

import type { CatalogChanged } from "../events.ts";

const calmMs = 200;

interface Calm {
  timer: NodeJS.Timeout;
  last: CatalogChanged | undefined;
}

/** Tells of list changes at once, but of each kind only once in a while; the last one is always told. */
export class ChangeNotices {
  readonly #tell: (event: CatalogChanged) => void;
  readonly #calm = new Map<CatalogChanged["kind"], Calm>();

  constructor(tell: (event: CatalogChanged) => void) {
    this.#tell = tell;
  }

  hear(event: CatalogChanged): void {
    const calm = this.#calm.get(event.kind);
    if (calm) {
      calm.last = event;
      return;
    }
    const timer = setTimeout(() => this.#wake(event.kind), calmMs);
    timer.unref();
    this.#calm.set(event.kind, { timer, last: undefined });
    this.#tell(event);
  }

  close(): void {
    for (const { timer } of this.#calm.values()) clearTimeout(timer);
    this.#calm.clear();
  }

  #wake(kind: CatalogChanged["kind"]): void {
    const last = this.#calm.get(kind)?.last;
    this.#calm.delete(kind);
    if (last) this.hear(last);
  }
}

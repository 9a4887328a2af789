import type { Deferral } from "../host.ts";
import type { Hub, ToolOffer, View } from "../index.ts";

export interface DecisionSettings {
  hub: Hub;
  /** Grows with every change of the catalog. */
  changes(): number;
  /** Called with the reason when the tools are deferred, and whether they were listed before. */
  onDeferred(because: string, wereListed: boolean): void;
}

/** What one caller was offered last. */
export interface Offered {
  readonly view: View;
  offer: { at: number; offer: ToolOffer } | undefined;
}

/**
 * Whether an endpoint's tools are listed or searched for: one decision for all callers, from the catalog alone. It does
 * not go back while the configuration is the same, because some clients never list again; see docs/decisions/0021.
 */
export class OneDecision {
  readonly #settings: DecisionSettings;
  /** Most callers see the same, so it is made once for each state of the catalog. */
  #shared = { at: -1, offers: new Map<string, Promise<ToolOffer>>() };
  #deferral: Deferral | undefined;
  #decidedUnder: Hub["config"] | undefined;
  #wasDeferred = false;

  constructor(settings: DecisionSettings) {
    this.#settings = settings;
  }

  get isDeferred(): boolean {
    return this.#deferral?.deferred === true;
  }

  /** True if some client may still know only the three tools. */
  get wasDeferred(): boolean {
    return this.#wasDeferred;
  }

  async offer(caller: Offered): Promise<ToolOffer> {
    const { hub, changes, onDeferred } = this.#settings;
    for (;;) {
      const at = changes();
      const known = caller.offer;
      if (known?.at === at && this.#agrees(known.offer)) return known.offer;
      const before = this.#deferral;
      const offer = await this.#offerFor(caller.view, at);
      // Another caller may have seen more meanwhile.
      if (!this.#agrees(offer) && hub.config === this.#decidedUnder) continue;
      this.#deferral = offer.deferral;
      this.#decidedUnder = hub.config;
      this.#wasDeferred ||= offer.deferral.deferred;
      caller.offer = { at, offer };
      if (!before?.deferred && offer.deferral.deferred)
        onDeferred(offer.deferral.because, before !== undefined);
      return offer;
    }
  }

  async #offerFor(view: View, at: number): Promise<ToolOffer> {
    const digest = await view.digest("tools");
    if (this.#shared.at !== at) this.#shared = { at, offers: new Map() };
    const { offers } = this.#shared;
    const key = `${this.isDeferred}:${digest}`;
    const known = offers.get(key);
    if (known) return known;
    const making = view.offer({ wait: false, before: this.#deferral });
    offers.set(key, making);
    making.catch(() => offers.delete(key));
    return making;
  }

  /** False if the tools are deferred by now, but not in this offer. */
  #agrees({ deferral }: ToolOffer): boolean {
    return deferral.deferred || !this.isDeferred;
  }
}

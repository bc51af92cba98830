import { type Config, Context, Effect, Layer } from "effect"
import type { Mint } from "../domain/Address.ts"
import { preloadedMints } from "./marketSettings.ts"

/** The market that the service answers from. */
export class MarketSource extends Context.Service<
  MarketSource,
  {
    /** In words: "a simulated market". */
    readonly description: string
    /** True when no real money is involved: then keys may be printed. */
    readonly sandbox: boolean
    /** Mints to load at start. */
    readonly mints: ReadonlyArray<Mint>
  }
>()("fathom/app/MarketSource") {}

export class DemoData extends Context.Service<
  DemoData,
  {
    /** Completes when the demo data is written or given up; at once when there is none. */
    readonly written: Effect.Effect<void>
  }
>()("fathom/app/DemoData") {}

/** A market source that loads the mints of `PRELOAD_MINTS`, or else `mints`. */
export const sourceOf = (
  source: Omit<MarketSource["Service"], "mints">,
  mints: ReadonlyArray<Mint>
): Layer.Layer<MarketSource, Config.ConfigError> =>
  Layer.effect(
    MarketSource,
    Effect.map(preloadedMints(mints), (chosen) => MarketSource.of({ ...source, mints: chosen }))
  )

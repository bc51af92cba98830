import { Config, Context, Effect, Layer } from "effect"
import { Address, type Mint } from "../domain/Address.ts"

/** The market that the service answers from. */
export class MarketSource extends Context.Service<
  MarketSource,
  {
    /** For people: "a simulated market". */
    readonly description: string
    /** True when no real money is involved: then keys may be printed. */
    readonly sandbox: boolean
    /** Mints to load at start. */
    readonly mints: ReadonlyArray<Mint>
  }
>()("fathom/app/MarketSource") {}

/** A market source that loads the mints of `PRELOAD_MINTS`, else these. */
export const sourceOf = (
  source: Omit<MarketSource["Service"], "mints">,
  mints: ReadonlyArray<Mint>
): Layer.Layer<MarketSource, Config.ConfigError> =>
  Layer.effect(
    MarketSource,
    Effect.map(Config.Array(Address, "PRELOAD_MINTS").pipe(Config.withDefault(mints)), (chosen) =>
      MarketSource.of({ ...source, mints: chosen })
    )
  )

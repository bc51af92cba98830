import { Context, Layer } from "effect"
import type { Address, Mint } from "../domain/Address.ts"
import { type Scalar, unavailable } from "../domain/Scalar.ts"

/** Activity of a token, as far as it was counted. */
export interface TokenActivity {
  readonly volume24hUsd: Scalar
  readonly holders: Scalar
  /** Time of the first observation by this service, in milliseconds since the Unix epoch; null when unknown. */
  readonly firstSeenAtMs: number | null
  readonly createdAtMs: number | null
}

/** Activity of tokens. Figures that are not counted are unavailable, never zero. */
export class ActivityReader extends Context.Service<
  ActivityReader,
  {
    /** Activity as of `nowMs`, read synchronously. */
    readonly activityOf: (mint: Mint, nowMs: number) => TokenActivity
    /** When a pool of the mint was created, in milliseconds since the Unix epoch; null when this was not seen. */
    readonly poolCreatedAtMs: (mint: Mint, pool: Address) => number | null
    /** Dollars traded in a pool of the mint in the 24 hours before `nowMs`. */
    readonly poolVolume24hUsd: (mint: Mint, pool: Address, nowMs: number) => Scalar
  }
>()("fathom/tokens/ActivityReader") {
  /** Every figure is unavailable. */
  static readonly layerUnknown: Layer.Layer<ActivityReader> = Layer.sync(ActivityReader, () =>
    ActivityReader.of({
      activityOf: () => uncounted,
      poolCreatedAtMs: () => null,
      poolVolume24hUsd: () => uncounted.volume24hUsd
    })
  )
}

const uncounted: TokenActivity = {
  volume24hUsd: unavailable("usd", "not_captured"),
  holders: unavailable("count", "not_captured"),
  firstSeenAtMs: null,
  createdAtMs: null
}

import { Context, Layer } from "effect"
import type { Mint } from "../domain/Address.ts"
import { type Scalar, unavailable } from "../domain/Scalar.ts"

/** What has happened to a token, as far as somebody has kept count. */
export interface TokenActivity {
  readonly volume24hUsd: Scalar
  readonly holders: Scalar
  /** When it was first seen here, in milliseconds since the Unix epoch; null when unknown. */
  readonly firstSeenAtMs: number | null
  readonly createdAtMs: number | null
}

/** What has happened to tokens. Its layers count; a token nobody has counted is unknown, never zero. */
export class ActivityReader extends Context.Service<
  ActivityReader,
  {
    /** Read synchronously, as of `nowMs`. */
    readonly activityOf: (mint: Mint, nowMs: number) => TokenActivity
  }
>()("fathom/tokens/ActivityReader") {
  /** Where nobody counts. */
  static readonly layerUnknown: Layer.Layer<ActivityReader> = Layer.sync(ActivityReader, () =>
    ActivityReader.of({ activityOf: () => uncounted })
  )
}

const uncounted: TokenActivity = {
  volume24hUsd: unavailable("usd", "not_captured"),
  holders: unavailable("count", "not_captured"),
  firstSeenAtMs: null,
  createdAtMs: null
}

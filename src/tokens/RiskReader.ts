import { Cache, Clock, Context, Duration, Effect, Exit, Layer } from "effect"
import type { Mint } from "../domain/Address.ts"
import type { TokenRisk } from "../domain/market/TokenRisk.ts"
import { AuditReader, type AuditUnavailable } from "./AuditReader.ts"
import { riskOf } from "./risk.ts"

/** How long one snapshot may serve everybody who asks. */
const SHARED = Duration.seconds(30)
const MOST_SHARED = 10_000

/** Signals about tokens. */
export class RiskReader extends Context.Service<
  RiskReader,
  {
    /** Every signal of the token as of now. Fails when the snapshot it rests on cannot be read or makes no sense. */
    riskOf(mint: Mint): Effect.Effect<TokenRisk, AuditUnavailable>
  }
>()("fathom/tokens/RiskReader") {
  /**
   * Shares an audit for at most 30 seconds. What was not there or could not be read is asked for again each time, and age
   * is judged anew with every answer, from when the chain was observed.
   */
  static readonly layer: Layer.Layer<RiskReader, never, AuditReader> = Layer.effect(
    RiskReader,
    Effect.gen(function* () {
      const audits = yield* AuditReader
      const shared = yield* Cache.makeWith((mint: Mint) => audits.read(mint), {
        capacity: MOST_SHARED,
        timeToLive: (exit) => (Exit.isSuccess(exit) && exit.value !== null ? SHARED : Duration.zero)
      })

      const risk = Effect.fn("RiskReader.riskOf")(function* (mint: Mint) {
        const audit = yield* Cache.get(shared, mint)
        return riskOf(mint, audit, yield* Clock.currentTimeMillis)
      })
      return RiskReader.of({ riskOf: risk })
    })
  )
}

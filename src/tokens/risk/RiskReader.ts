import { Cache, Clock, Context, Duration, Effect, Exit, Layer } from "effect"
import type { Mint } from "../../domain/Address.ts"
import type { TokenRisk } from "../../api/schemas/TokenRisk.ts"
import { AuditReader, type AuditUnavailable } from "../AuditReader.ts"
import { riskOf } from "./risk.ts"
import { SignalReader } from "./SignalReader.ts"

/** Time for which an audit is shared between requests. */
const SHARED_FOR = Duration.seconds(30)
const MOST_SHARED = 10_000

/** Risk signals of tokens. */
export class RiskReader extends Context.Service<
  RiskReader,
  {
    /** Every signal of the token as of now. Fails when the mint account cannot be read or is malformed. */
    riskOf(mint: Mint): Effect.Effect<TokenRisk, AuditUnavailable>
  }
>()("fathom/tokens/risk/RiskReader") {
  /**
   * Shares an audit for at most 30 seconds. Missing audits and failures are not cached. The age of an audit is evaluated
   * with every call, from the time of its observation.
   */
  static readonly layer: Layer.Layer<RiskReader, never, AuditReader> = Layer.effect(
    RiskReader,
    Effect.gen(function* () {
      const audits = yield* AuditReader
      const signals = yield* SignalReader
      const shared = yield* Cache.makeWith((mint: Mint) => audits.read(mint), {
        capacity: MOST_SHARED,
        timeToLive: (exit) => (Exit.isSuccess(exit) && exit.value !== null ? SHARED_FOR : Duration.zero)
      })

      const risk = Effect.fn("RiskReader.riskOf")(function* (mint: Mint) {
        const audit = yield* Cache.get(shared, mint)
        const tags = riskOf(mint, audit, yield* Clock.currentTimeMillis)
        return { ...tags, signals: yield* signals.signalsOf(mint) }
      })
      return RiskReader.of({ riskOf: risk })
    })
  )
}

import { Context, Effect, Exit, Layer, Schema, Scope } from "effect"
import type { LimiterUnavailable } from "../api/schemas/Budget.ts"
import { CallerLimits } from "./CallerLimits.ts"

/**
 * Limits per caller of reads that gather many accounts: how many run at the same time, and how many start in any
 * window.
 */
export const walletBatchPolicy = { name: "wallet-batch", concurrent: 2, starts: 60, windowMs: 60_000 } as const

/** The read would exceed a limit. `retryAfterMs` is when it could fit; null when it depends on other reads to end. */
export class BatchRefused extends Schema.TaggedError<BatchRefused>()("BatchRefused", {
  limit: Schema.Literals(["concurrent", "starts"]),
  retryAfterMs: Schema.NullOr(Schema.Finite)
}) {}

/** Admission shared by wallet summaries and liquidity reads, on top of the budgets of a key. */
export class WalletBatch extends Context.Service<
  WalletBatch,
  {
    /** Takes one of the caller's two places until the scope ends, and counts a start. A refusal counts nothing. */
    enter(caller: string): Effect.Effect<void, BatchRefused | LimiterUnavailable, Scope.Scope>
  }
>()("fathom/access/WalletBatch") {
  static readonly layer: Layer.Layer<WalletBatch, never, CallerLimits> = Layer.effect(
    WalletBatch,
    Effect.gen(function* () {
      const limits = yield* CallerLimits
      const { concurrent, name: kind, starts, windowMs } = walletBatchPolicy

      const enter = Effect.fnUntraced(function* (caller: string) {
        const place = yield* Scope.fork(yield* Scope.Scope)
        yield* Scope.provide(limits.take({ kind, caller, limit: concurrent }), place).pipe(
          Effect.catchTag("NoPlace", () => new BatchRefused({ limit: "concurrent", retryAfterMs: null }))
        )
        yield* limits.count({ kind, caller, limit: starts, windowMs }).pipe(
          Effect.catchTag("TooOften", ({ retryAfterMs }) => new BatchRefused({ limit: "starts", retryAfterMs })),
          Effect.onError(() => Scope.close(place, Exit.void))
        )
      })

      return WalletBatch.of({ enter })
    })
  )
}

import { Context, Effect, Exit, Layer, Schema, Scope } from "effect"
import type { LimiterUnavailable } from "../domain/Budget.ts"
import { CallerLimits } from "./CallerLimits.ts"

/** Limits of reads that gather many accounts, per caller: at a time, and begun in any window. */
export const walletBatchPolicy = { name: "wallet-batch", concurrent: 2, starts: 60, windowMs: 60_000 } as const

/** One more would be too many. `retryAfterMs` is when it could fit: null when that depends on the others ending. */
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

  /** Places and starts of this process alone. */
  static readonly layerMemory: Layer.Layer<WalletBatch> = WalletBatch.layer.pipe(
    Layer.provide(CallerLimits.layerMemory)
  )
}

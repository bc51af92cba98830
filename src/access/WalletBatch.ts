import { Context, Effect, Exit, Layer, Schema, Scope } from "effect"
import type { LimiterUnavailable } from "../api/schemas/Budget.ts"
import type { Plan } from "../api/schemas/Plan.ts"
import { CallerLimits } from "./CallerLimits.ts"

/** Least limits per caller of reads that gather many accounts, and the most that may run at the same time. */
export const walletBatchPolicy = {
  name: "wallet-batch",
  concurrent: 2,
  mostConcurrent: 16,
  starts: 60,
  windowMs: 60_000
} as const

/** How many reads that gather many accounts a caller may run at the same time, and start in any minute. */
export interface BatchLimits {
  readonly concurrent: number
  readonly starts: number
}

/**
 * The limits of a plan. Half of its reads in a minute may start, and one may run at the same time for each 60 reads in a
 * minute, within the bounds of `walletBatchPolicy`.
 */
export const batchLimitsOf = ({ rest, windowSeconds }: Pick<Plan, "rest" | "windowSeconds">): BatchLimits => {
  const { concurrent, mostConcurrent, starts } = walletBatchPolicy
  const inMinute = Math.floor((rest * 60) / windowSeconds)
  return {
    concurrent: Math.min(mostConcurrent, Math.max(concurrent, Math.floor(inMinute / 60))),
    starts: Math.max(starts, Math.floor(inMinute / 2))
  }
}

/** The read would exceed a limit. `retryAfterMs` is when it could fit; null when it depends on other reads to end. */
export class BatchRefused extends Schema.TaggedError<BatchRefused>()("BatchRefused", {
  limit: Schema.Literals(["concurrent", "starts"]),
  retryAfterMs: Schema.NullOr(Schema.Finite)
}) {}

/** Admission shared by wallet summaries and liquidity reads, on top of the budgets of a key. */
export class WalletBatch extends Context.Service<
  WalletBatch,
  {
    /** Takes one of the caller's places until the scope ends, and counts a start. A refusal counts nothing. */
    enter(caller: string, limits: BatchLimits): Effect.Effect<void, BatchRefused | LimiterUnavailable, Scope.Scope>
  }
>()("fathom/access/WalletBatch") {
  static readonly layer: Layer.Layer<WalletBatch, never, CallerLimits> = Layer.effect(
    WalletBatch,
    Effect.gen(function* () {
      const limits = yield* CallerLimits
      const { name: kind, windowMs } = walletBatchPolicy

      const enter = Effect.fnUntraced(function* (caller: string, { concurrent, starts }: BatchLimits) {
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

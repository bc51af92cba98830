import { Clock, Context, Effect, Layer, Schema, type Scope } from "effect"
import { KeyedBudget } from "../domain/KeyedBudget.ts"

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
    enter(caller: string): Effect.Effect<void, BatchRefused, Scope.Scope>
  }
>()("fathom/access/WalletBatch") {
  /** Places and starts of this process alone. */
  static readonly layerMemory: Layer.Layer<WalletBatch> = Layer.sync(WalletBatch, () => {
    const starts = new KeyedBudget({ limit: walletBatchPolicy.starts, windowMs: walletBatchPolicy.windowMs })
    const running = new Map<string, number>()

    const take = (caller: string) =>
      Clock.clockWith((clock) => {
        const busy = running.get(caller) ?? 0
        if (busy >= walletBatchPolicy.concurrent) {
          return Effect.fail(new BatchRefused({ limit: "concurrent", retryAfterMs: null }))
        }
        const decision = starts.admit(caller, 1, Number(clock.monotonicTimeNanosUnsafe()) / 1e6)
        if (decision._tag === "Refused") {
          return Effect.fail(new BatchRefused({ limit: "starts", retryAfterMs: decision.fitsInMs }))
        }
        running.set(caller, busy + 1)
        return Effect.void
      })

    const leave = (caller: string) =>
      Effect.sync(() => {
        const busy = running.get(caller) ?? 0
        if (busy > 1) {
          running.set(caller, busy - 1)
        } else {
          running.delete(caller)
        }
      })

    return WalletBatch.of({
      enter: (caller) => Effect.acquireRelease(take(caller), () => leave(caller))
    })
  })
}

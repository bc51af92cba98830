import { Effect, type Scope } from "effect"
import {
  type BatchLimits,
  batchLimitsOf,
  type BatchRefused,
  type WalletBatch,
  walletBatchPolicy
} from "../../access/WalletBatch.ts"
import type { LimiterUnavailable, RateLimited } from "../../api/errors/problems.ts"
import { CurrentKey } from "../../api/middleware/Authorization.ts"
import { limited, limiterUnavailable } from "../problems.ts"

const messageOf = ({ concurrent, starts }: BatchLimits, { limit }: BatchRefused): string =>
  limit === "concurrent"
    ? `Only ${concurrent} reads of this kind may run at a time.`
    : `Only ${starts} reads of this kind may start in a minute.`

/** Admits the caller to a read of many accounts until the scope ends, within the limits of its plan. */
export const enterBatch = Effect.fnUntraced(function* (
  batch: WalletBatch["Service"]
): Effect.fn.Return<void, RateLimited | LimiterUnavailable, CurrentKey | Scope.Scope> {
  const { id, plan } = yield* CurrentKey
  const limits = batchLimitsOf(plan)
  yield* batch.enter(id, limits).pipe(
    Effect.catchTags({
      BatchRefused: (refusal) =>
        Effect.fail(limited(walletBatchPolicy.name, messageOf(limits, refusal), refusal.retryAfterMs ?? 0)),
      LimiterUnavailable: limiterUnavailable
    })
  )
})

import { Effect, type Scope } from "effect"
import { type BatchRefused, type WalletBatch, walletBatchPolicy } from "../../access/WalletBatch.ts"
import type { LimiterUnavailable, RateLimited } from "../../api/errors/problems.ts"
import { limited, limiterUnavailable } from "../problems.ts"

const { concurrent, name, starts } = walletBatchPolicy

const messages = {
  concurrent: `Only ${concurrent} reads of this kind may run at a time.`,
  starts: `Only ${starts} reads of this kind may start in a minute.`
}

const tooMany = ({ limit, retryAfterMs }: BatchRefused) =>
  Effect.fail(limited(name, messages[limit], retryAfterMs ?? 0))

/** Admits a caller to a read of many accounts until the scope ends. */
export const enterBatch = (
  batch: WalletBatch["Service"],
  caller: string
): Effect.Effect<void, RateLimited | LimiterUnavailable, Scope.Scope> =>
  batch.enter(caller).pipe(Effect.catchTags({ BatchRefused: tooMany, LimiterUnavailable: limiterUnavailable }))

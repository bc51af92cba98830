import { Effect, type Scope } from "effect"
import { type BatchRefused, type WalletBatch, walletBatchPolicy } from "../../access/WalletBatch.ts"
import { retryAfter } from "../../api/Problem.ts"
import { RateLimited } from "../../api/problems.ts"

const { concurrent, name, starts } = walletBatchPolicy

const messages = {
  concurrent: `Only ${concurrent} reads of this kind may run at a time.`,
  starts: `Only ${starts} reads of this kind may be started a minute.`
}

const tooMany = ({ limit, retryAfterMs }: BatchRefused) =>
  retryAfter(
    new RateLimited({
      error: { message: messages[limit], details: [{ in: "header", field: name, issue: "out_of_range" }] }
    }),
    (retryAfterMs ?? 0) / 1000
  )

/** Admits a caller to a read that gathers many accounts, until the scope ends. */
export const enterBatch = (
  batch: WalletBatch["Service"],
  caller: string
): Effect.Effect<void, RateLimited, Scope.Scope> => Effect.mapError(batch.enter(caller), tooMany)

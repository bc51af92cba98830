/** One proof of one program: executes swaps on some of its pools with the deployed program. */
import { Clock, Effect } from "effect"
import { monotonicMs } from "../../domain/loopTime.ts"
import type { Address, Mint } from "../../domain/Address.ts"
import type { ChainFeed } from "../../chain/ChainFeed.ts"
import type { ChainUnavailable } from "../../chain/ChainUnavailable.ts"
import { makeDeriveAddress } from "../../chain/programAddress.ts"
import { deployedProgram, deploymentOf, HEADER, programDataAddress } from "./deployment.ts"
import { readSnapshot } from "./poolSnapshot.ts"
import type { Venue } from "./swapVenue.ts"
import { shortfall } from "./programState.ts"
import type { ProofBudget } from "./ProofBudget.ts"
import type { ProofFailed, ProverSession } from "./Prover.ts"
import type { ProofOutcome } from "./ProofStore.ts"

/** Swaps per pool. */
const SWAPS = 32
/** Seeds are below this. They make the amounts differ between proofs. */
const SEEDS = 1_000_000

const derive = makeDeriveAddress()

/** A pool to execute swaps on, and the coin of a bonding curve. */
export interface PoolToProve {
  readonly address: Address
  readonly foundBy?: Mint | undefined
}

/** How a proof ended. */
export type VenueProof =
  | {
      readonly _tag: "Proven"
      readonly deployedAtSlot: number | null
      readonly outcome: ProofOutcome
      readonly fixtures: ReadonlyArray<{ readonly pool: Address; readonly file: object }>
    }
  | { readonly _tag: "Unproven"; readonly reason: string }
  /** The program was upgraded during the proof. */
  | { readonly _tag: "Upgraded" }

export interface ProofParts {
  readonly feed: Pick<ChainFeed["Service"], "read">
  readonly session: ProverSession
  readonly budget: ProofBudget
}

const unproven = (reason: string): VenueProof => ({ _tag: "Unproven", reason })

const nowMs = Effect.map(Clock.Clock, monotonicMs)

/** Waits until the budget has room. Runs `rest` before a wait. */
export const withinBudget = (budget: ProofBudget, rest: Effect.Effect<void> = Effect.void): Effect.Effect<void> =>
  Effect.flatMap(nowMs, (nowMs) => {
    const waitMs = budget.waitMs(nowMs)
    return waitMs === 0
      ? Effect.void
      : rest.pipe(Effect.andThen(Effect.sleep(waitMs)), Effect.andThen(withinBudget(budget)))
  })

/**
 * Proves a program on these pools. Fails when the node does not answer, or when a runtime ends without an outcome.
 */
export const proveVenue = Effect.fn("proveVenue")(function* (
  { budget, feed, session }: ProofParts,
  venue: Venue,
  pools: ReadonlyArray<PoolToProve>
): Effect.fn.Return<VenueProof, ChainUnavailable | ProofFailed> {
  const { programId } = venue.program
  const addresses = [programId, programDataAddress(programId, derive)]
  const { accounts } = yield* feed.read(addresses)
  const program = deployedProgram(programId, (address) => accounts.get(address))
  if ("reason" in program) {
    return unproven(program.reason)
  }
  const { elf, sha256 } = program
  const spend = ({ cpuMs }: { readonly cpuMs: number }) => Effect.map(nowMs, (nowMs) => budget.spend(nowMs, cpuMs))
  const sums = { slot: 0, pools: 0, exact: 0, refused: 0, wrong: 0 }
  const fixtures: Array<{ readonly pool: Address; readonly file: object }> = []
  let executed = 0
  let left: string | null = null
  for (const { address: pool, foundBy } of pools) {
    yield* withinBudget(budget, session.rest)
    const readTogether = (wanted: ReadonlyArray<Address>) => Effect.map(feed.read(wanted), (read) => read.accounts)
    const snapshot = yield* readSnapshot(venue, pool, readTogether, foundBy)
    if (snapshot === null) {
      left = `pool ${pool} could not be read with all of its accounts`
      continue
    }
    const seed = ((yield* Clock.currentTimeMillis) % SEEDS) + 1
    const outcome = yield* session
      .prove({ programId, elf, sha256, snapshot, swaps: SWAPS, seed })
      .pipe(Effect.tap(spend), Effect.tapError(spend))
    if (outcome.obstacle !== null) {
      left = `pool ${pool}: ${outcome.obstacle}`
      continue
    }
    sums.slot = Math.max(sums.slot, snapshot.clock.slot)
    sums.pools += 1
    executed += outcome.executed
    sums.exact += outcome.exact
    sums.refused += outcome.refused
    sums.wrong += outcome.wrong
    fixtures.push(...(outcome.fixture === null ? [] : [{ pool, file: outcome.fixture }]))
  }
  const { accounts: headers } = yield* feed.read(addresses, HEADER)
  const after = deploymentOf(programId, (address) => headers.get(address))
  if ("reason" in after || after.slot !== program.slot) {
    return { _tag: "Upgraded" }
  }
  // When every swap fails, the runtime or the accounts may be at fault, not the quotes.
  if (executed === 0) {
    return unproven(left ?? "no swap could be executed")
  }
  const lacking = sums.wrong > 0 ? null : shortfall(sums.exact)
  if (lacking !== null) {
    return unproven(lacking)
  }
  const atMs = yield* Clock.currentTimeMillis
  return { _tag: "Proven", deployedAtSlot: program.slot, outcome: { ...sums, atMs, sha256 }, fixtures }
})

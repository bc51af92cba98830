/** Learns programs that nothing here has code for: watches their swaps, builds one, and compares it with the next ones. */
import { Duration, Effect, Result, type Scope } from "effect"
import type { ExecutedVenue } from "../../api/schemas/ExecutedVenue.ts"
import { ChainFeed } from "../../chain/ChainFeed.ts"
import { readTransaction } from "../../chain/decoding/transaction.ts"
import { TransactionHistory } from "../../chain/rpc/TransactionHistory.ts"
import type { Address } from "../../domain/Address.ts"
import type { Signature } from "../../domain/Signature.ts"
import { keepRunning } from "../../operations/keepRunning.ts"
import { noteFailure } from "../../operations/SourceMonitor.ts"
import { Learned } from "../pools/LearnedPools.ts"
import { PoolBook } from "../pools/PoolBook.ts"
import type { HeldPool } from "../pools/PoolCache.ts"
import { EXECUTION, type Executor } from "./Executor.ts"
import { learnDirection, learnedPool, type SeenSwap, seenSwap } from "./learnSwap.ts"

/** Pause between looks at the newest transactions of the learned programs. */
const LOOKS = Duration.millis(500)
/** Newest transactions of a program that one look reads. */
const READ_AT_ONCE = 20
/** Observed swaps in a row that execution must give to the unit. */
const NEEDED = 5
/** Pools and directions of a program that wait for their second swap. */
const MOST_EXAMPLES = 1000
/** States of a pool that are remembered for swaps that are read later. */
const REMEMBERED = 64

/** What is known of one learned program. */
interface Study {
  readonly programId: Address
  newest: Signature | null
  /** Slots of its transactions, newest last. */
  slots: Array<number>
  /** No transaction after this slot was left out of `slots`. */
  wholeFrom: number
  /** The first swap of each pool and direction. */
  readonly examples: Map<string, SeenSwap>
  /** The account that stands for a pool, by its vaults. */
  readonly pools: Map<string, Address>
  readonly states: Map<Address, Array<HeldPool>>
  exact: number
  /** Why it is refused for good; null while it is not. */
  refusal: string | null
  /** The deployment that the exact swaps were executed with. */
  deployment: string | null
}

const newStudy = (programId: Address): Study => ({
  programId,
  newest: null,
  slots: [],
  wholeFrom: 0,
  examples: new Map(),
  pools: new Map(),
  states: new Map(),
  exact: 0,
  refusal: null,
  deployment: null
})

const slotOf = ({ accounts }: HeldPool): number =>
  Array.from(accounts.values()).reduce((newest, account) => Math.max(newest, account?.slot ?? 0), 0)

const vaultsOf = ({ vaultIn, vaultOut }: SeenSwap): string => [vaultIn, vaultOut].toSorted().join()

const exampleOf = (swap: SeenSwap): string => `${vaultsOf(swap)} ${swap.mintIn}`

const progress = ({ exact }: Study): string => `${exact} of ${NEEDED} observed swaps were executed to the unit`

const stateOf = (study: Study, slot: number | null): ExecutedVenue => {
  const { exact, pools, programId, refusal } = study
  const state = refusal !== null ? "refused" : exact >= NEEDED ? "proven" : "learning"
  return {
    dex: "learned",
    programId,
    state,
    pools: pools.size,
    refusedPools: 0,
    deployedAtSlot: slot,
    detail: refusal ?? progress(study)
  }
}

/**
 * The state of the pool just before the swap: the newest one that is older, if no other transaction of the program
 * happened since or in the same slot, as far as every transaction since then was listed.
 */
export const stateBefore = (
  { slots, states, wholeFrom }: Pick<Study, "slots" | "states" | "wholeFrom">,
  pool: Address,
  { slot }: Pick<SeenSwap, "slot">
): HeldPool | null => {
  const held = (states.get(pool) ?? []).findLast(
    (one) => one.missing === null && slotOf(one) < slot && slotOf(one) >= wholeFrom
  )
  const since = held === undefined ? [] : slots.filter((one) => one > slotOf(held) && one <= slot)
  return held !== undefined && since.length === 1 ? held : null
}

/** Learns these programs until the scope closes. Returns their states. */
export const learnFrom = Effect.fnUntraced(function* (
  executor: Executor["Service"],
  programIds: ReadonlyArray<Address>
): Effect.fn.Return<
  () => ReadonlyArray<ExecutedVenue>,
  never,
  ChainFeed | PoolBook | Scope.Scope | TransactionHistory
> {
  const feed = yield* ChainFeed
  const book = yield* PoolBook
  const history = yield* TransactionHistory
  const learned = yield* Learned
  const studies = programIds.map(newStudy)

  const publish = (study: Study): void => {
    const isQuoted = study.refusal === null && study.exact >= NEEDED
    learned.refuse(study.programId, isQuoted ? null : (study.refusal ?? `it is being learned: ${progress(study)}`))
  }

  /** The account that stands for the pool: the first one of the swap that the program owns. */
  const poolOf = Effect.fnUntraced(function* (study: Study, swap: SeenSwap) {
    const known = study.pools.get(vaultsOf(swap))
    if (known !== undefined) {
      return known
    }
    const { accounts } = yield* feed.read([...new Set(swap.accounts)])
    const pool = swap.accounts.find((address) => accounts.get(address)?.owner === study.programId)
    if (pool !== undefined) {
      study.pools.set(vaultsOf(swap), pool)
    }
    return pool
  })

  const learn = Effect.fnUntraced(function* (study: Study, example: SeenSwap, swap: SeenSwap) {
    const direction = learnDirection(example, swap)
    if (typeof direction === "string") {
      if (example.amountIn !== swap.amountIn) {
        study.refusal = direction
      }
      return
    }
    const pool = yield* poolOf(study, swap)
    if (pool === undefined) {
      study.refusal = "none of a swap's accounts is the program's own"
      return
    }
    learned.set(learnedPool(swap, pool, direction, learned.get(pool)))
    study.examples.delete(exampleOf(swap))
    yield* Effect.forEach([swap.mintIn, swap.mintOut], book.warm, { discard: true })
  })

  /** Executes an observed swap on the state before it. */
  const compare = Effect.fnUntraced(function* (study: Study, pool: HeldPool, swap: SeenSwap) {
    const { epoch, unixTimestamp } = feed.clock()
    const clock = { slot: swap.slot, epoch, unixTimestamp: swap.blockTime ?? unixTimestamp }
    const order = { aToB: pool.mints[0] === swap.mintIn, exactOut: false, amount: swap.amountIn }
    const executed = yield* Effect.result(executor.executePast(pool, order, clock))
    if (Result.isFailure(executed)) {
      // The bytes are being read, or the queue is full. The next swap is compared instead.
      return
    }
    const { success } = executed
    study.deployment = executor.deploymentOf(pool)
    if (!("error" in success) && success.amountOut === swap.amountOut && success.amountIn === swap.amountIn) {
      study.exact += 1
      return
    }
    const gave = "error" in success ? `was refused by it: ${success.error}` : `gave ${success.amountOut}`
    study.exact = 0
    study.refusal = `an observed swap of ${swap.amountIn} paid ${swap.amountOut}; executed on the state before it, it ${gave}`
  })

  const observe = Effect.fnUntraced(function* (study: Study, swap: SeenSwap) {
    const address = study.pools.get(vaultsOf(swap))
    const known = address === undefined ? undefined : learned.get(address)
    const direction = known === undefined ? null : known.mintA === swap.mintIn ? known.aToB : known.bToA
    if (address !== undefined && direction !== null) {
      const before = stateBefore(study, address, swap)
      return before === null ? undefined : yield* compare(study, before, swap)
    }
    const key = exampleOf(swap)
    const example = study.examples.get(key)
    if (example === undefined) {
      if (study.examples.size < MOST_EXAMPLES) {
        study.examples.set(key, swap)
      }
      return
    }
    return yield* learn(study, example, swap)
  })

  /** Remembers the pools' present states, and begins again with the proofs after an upgrade. */
  const remember = (study: Study): void => {
    for (const address of study.pools.values()) {
      const held = book.held(address)
      const states = study.states.get(address) ?? []
      study.states.set(address, states)
      if (held !== null && states.at(-1) !== held) {
        states.push(held)
        states.splice(0, states.length - REMEMBERED)
      }
      if (held !== null && study.deployment !== null && executor.deploymentOf(held) !== study.deployment) {
        study.deployment = null
        study.exact = 0
        study.refusal = null
      }
    }
  }

  const look = Effect.fnUntraced(function* (study: Study) {
    remember(study)
    const listed = yield* history.list({
      address: study.programId,
      before: null,
      until: study.newest,
      limit: READ_AT_ONCE
    })
    const oldestFirst = listed.toReversed()
    if (study.newest === null || listed.length === READ_AT_ONCE) {
      // There may be transactions between these and the ones before, which a busy program makes by the dozen.
      study.wholeFrom = oldestFirst[0]?.slot ?? study.wholeFrom
    }
    study.newest = listed[0]?.signature ?? study.newest
    study.slots.push(...oldestFirst.map(({ slot }) => slot))
    study.slots = study.slots.slice(-500)
    for (const { err, signature } of oldestFirst) {
      if (study.refusal !== null) {
        break
      }
      const read = err === null ? readTransaction(yield* history.read(signature)) : null
      const swap = read !== null && Result.isSuccess(read) ? seenSwap(read.success, study.programId) : null
      if (swap !== null) {
        yield* observe(study, swap)
      }
    }
    publish(study)
  })

  studies.forEach(publish)
  if (studies.length > 0) {
    const looked = (study: Study) =>
      look(study).pipe(
        Effect.tapError((error) => noteFailure(EXECUTION, `learning ${study.programId}: ${String(error)}`)),
        Effect.ignore
      )
    yield* Effect.forEach(studies, looked, { discard: true }).pipe(
      Effect.andThen(Effect.sleep(LOOKS)),
      Effect.forever,
      keepRunning("Learning venues", EXECUTION),
      Effect.forkScoped
    )
  }
  return () =>
    studies.map((study) => {
      const bytes = executor.peek(study.programId)
      return stateOf(study, bytes?._tag === "Loaded" ? bytes.program.slot : null)
    })
})

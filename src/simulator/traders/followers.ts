/** The simulated copier. Its wallet swaps in the same pools as the wallets that it follows, a few slots later. */
import { Address, type Mint, SOL, USDC } from "../../domain/Address.ts"
import type { CopyFill, NewFollow } from "../../api/schemas/Copying.ts"
import { Signature } from "../../domain/Signature.ts"
import { SYSTEM_PROGRAM } from "../chain/addresses.ts"
import type { Cast } from "./cast.ts"
import { makeCopyJournal, type CopyJournal } from "./followersJournal.ts"
import { followsOf, runOf, type SimFollow, type Times } from "./followersPlan.ts"
import {
  isFiltered,
  leastOut,
  nanosOf,
  priceOfTrade,
  type Refusal,
  stakeOf,
  type TokenTrade,
  tokenTradeOf
} from "./followersRules.ts"
import type { Deed, Transaction } from "../chain/Ledger.ts"
import { makeRandom } from "../chain/Random.ts"
import type { Listing } from "./retail.ts"
import type { SimPool } from "../chain/SimPool.ts"
import { supplyOf } from "../chain/tokens.ts"
import { type Carried, otherMint, planSale, reserveOf, sell } from "../chain/trade.ts"
import { failedDeed, tradeDeed } from "../chain/transactions.ts"
import { decimalsOf, type World } from "../chain/World.ts"

export interface Followers {
  /** Creates and funds the copier's wallets. */
  readonly begin: () => void
  /** Executes the copies in the slot being built, after these deeds of other wallets. */
  readonly copy: (deeds: ReadonlyArray<Deed>) => ReadonlyArray<Deed>
  /** Takes the slot's transactions and writes the fills that they complete to the journal. */
  readonly settle: (transactions: ReadonlyArray<Transaction>) => void
  readonly journal: CopyJournal
}

/** A leader's trade that has not been copied yet. */
interface Pending {
  readonly sim: SimFollow
  readonly leader: Address
  readonly trade: TokenTrade
  /** How much the leader sold, and how much it held before. */
  readonly part: { readonly sold: bigint; readonly had: bigint }
  readonly priceUsd: string | null
  readonly receipt: Deed["receipt"]
  readonly dueSlot: number
  /** Where the trade is on the chain; null until its block is finished. */
  place: { readonly signature: Signature; readonly slot: number; readonly atMs: number } | null
}

/** What an attempt to copy led to. `deed` is set when there is a transaction, executed or failed. */
interface Outcome {
  readonly pending: Pending
  readonly refusal: Refusal | null
  readonly carried: Carried | null
  readonly deed: Deed | null
  readonly microPerSol: bigint
}

const WHOLE_SOL = 1_000_000_000n
const FUNDS = 2_000n * WHOLE_SOL
const LATEST_SLOTS = 4
/**
 * Distance in slots of blocks without a gap. After a gap, as everywhere in the past, copies come in the same block.
 */
const NEXT = 1

const failed = (reason: Refusal["reason"]): Refusal => ({ status: "failed", reason })
const skipped = (reason: Refusal["reason"]): Refusal => ({ status: "skipped", reason })

/** The wallet that pays for a follow's copies. */
const walletOf = ({ ownedWallet }: NewFollow): Address => Address.make(ownedWallet.address)

/** A copier of some of the cast's wallets. */
export const makeFollowers = (options: {
  readonly world: World
  readonly cast: Cast
  readonly listings: () => ReadonlyArray<Listing>
  readonly times: Times
}): Followers => {
  const { cast, listings, times, world } = options
  const { bank } = world
  const random = makeRandom(`${world.seed} followers`)
  const follows = followsOf(world.seed, cast, times)
  const run = runOf(world.seed, times)
  const journal = makeCopyJournal(follows.map(({ follow }) => follow))
  const wallets = new Set(follows.map(({ follow }) => walletOf(follow)))
  const held = new Map<string, bigint>()
  const firstSlot = bank.clock().slot
  let lastSlot = firstSlot
  let pending: ReadonlyArray<Pending> = []
  let outcomes: ReadonlyArray<Outcome> = []
  let written = 0

  const atMs = bank.unixMsOf
  const heldKey = ({ sim, trade }: Pending): string => `${sim.follow.id} ${trade.mint}`

  const poolsOf = (mint: Mint): ReadonlyArray<SimPool> =>
    (listings().find((listing) => listing.mint === mint)?.pools ?? []).filter(
      (pool) => pool.open() && otherMint(pool, mint) === SOL
    )

  /** Micro-dollars per SOL in the pool that pays most; zero when there is none. */
  const solPrice = (): bigint =>
    poolsOf(USDC).reduce((best, pool) => {
      const out = planSale(world, pool, SOL, WHOLE_SOL)?.amountOut ?? 0n
      return out > best ? out : best
    }, 0n)

  const bestOf = (pools: ReadonlyArray<SimPool>, mint: Mint, amountIn: bigint) =>
    pools
      .flatMap((pool) => {
        const plan = planSale(world, pool, mint, amountIn)
        return plan === null ? [] : [{ pool, amountOut: plan.amountOut }]
      })
      .toSorted((a, b) => (a.amountOut === b.amountOut ? 0 : a.amountOut < b.amountOut ? 1 : -1))[0]

  /** Executes one copy in its own transaction. If its slippage is exceeded, the transaction fails. */
  const attempt = (one: Pending, microPerSol: bigint): Outcome => {
    const { follow } = one.sim
    const { trade } = one
    const wallet = walletOf(follow)
    const parties = { wallet, validator: cast.validator }
    const refuse = (refusal: Refusal, deed: Deed | null = null): Outcome => ({
      pending: one,
      refusal,
      carried: null,
      deed,
      microPerSol
    })
    const own = held.get(heldKey(one)) ?? 0n
    const amountIn = trade.side === "buy" ? stakeOf(follow, trade) : (own * one.part.sold) / one.part.had
    if (amountIn === 0n) {
      return refuse(skipped(trade.side === "buy" ? "other" : "insufficient_balance"))
    }
    const input = trade.side === "buy" ? SOL : trade.mint
    if (amountIn + reserveOf(input) > world.holding(wallet, input)) {
      return refuse(failed("insufficient_balance"))
    }
    const best = bestOf(poolsOf(trade.mint), input, amountIn)
    if (best === undefined) {
      return refuse(failed("no_route"))
    }
    if (best.amountOut < leastOut(follow, trade, amountIn)) {
      return refuse(failed("slippage"), failedDeed(world, parties, { pool: best.pool, mint: input, amountIn }))
    }
    const carried = sell(world, wallet, best.pool, input, amountIn)
    if (carried === null) {
      return refuse(failed("other"))
    }
    const moved = trade.side === "buy" ? carried.amountOut : -carried.amountIn
    held.set(heldKey(one), own + moved)
    return { pending: one, refusal: null, carried, deed: tradeDeed(world, parties, [carried]), microPerSol }
  }

  /** Why the follow does not copy a trade, by its status or filters; null when it does. */
  const refusalOf = ({ ceasedAtMs, follow }: SimFollow, trade: TokenTrade): Refusal | null => {
    if (ceasedAtMs !== null && atMs(bank.clock().slot) >= ceasedAtMs) {
      return skipped("paused")
    }
    return isFiltered(follow, trade, supplyOf(bank.must(trade.mint))) ? skipped("filter") : null
  }

  /** The trades of a deed, once for each running follow of its wallet. */
  const pendingOf = (deed: Deed, microPerSolNow: bigint): ReadonlyArray<Pending> => {
    const { slot } = bank.clock()
    const isFollowing = ({ ceasedAtMs, follow }: SimFollow) =>
      follow.leader.wallet === deed.wallet && !(follow.status === "stopped" && atMs(slot) >= (ceasedAtMs ?? 0))
    const dueSlot = slot + (slot - lastSlot > NEXT ? 0 : random.below(LATEST_SLOTS))
    return follows.filter(isFollowing).flatMap((sim) =>
      deed.swaps.flatMap((swap) => {
        const trade = tokenTradeOf(swap, microPerSolNow)
        if (trade === null) {
          return []
        }
        const had = world.holding(deed.wallet, trade.mint) + trade.tokens
        const part = { sold: trade.tokens, had }
        const priceUsd = priceOfTrade(trade, decimalsOf(world, trade.mint))
        return [{ sim, leader: deed.wallet, trade, part, priceUsd, receipt: deed.receipt, dueSlot, place: null }]
      })
    )
  }

  const copy: Followers["copy"] = (deeds) => {
    const followed = deeds.filter(
      ({ kind, wallet }) => kind === "trade" && follows.some(({ follow }) => follow.leader.wallet === wallet)
    )
    const { slot } = bank.clock()
    const rate = followed.length > 0 || pending.some(({ dueSlot }) => dueSlot <= slot) ? solPrice() : 0n
    const known = [...pending, ...followed.flatMap((deed) => pendingOf(deed, rate))]
    lastSlot = slot
    const due = known.filter(({ dueSlot }) => dueSlot <= slot)
    pending = known.filter(({ dueSlot }) => dueSlot > slot)
    outcomes = due.map((one) => {
      const refusal = refusalOf(one.sim, one.trade)
      return refusal === null
        ? attempt(one, rate)
        : { pending: one, refusal, carried: null, deed: null, microPerSol: rate }
    })
    return outcomes.flatMap(({ deed }) => deed ?? [])
  }

  const executionOf = ({ carried, deed, microPerSol: rate, pending: { trade } }: Outcome, own: Transaction) => {
    const made = carried === null ? null : tokenTradeOf(carried, rate)
    return carried === null || deed === null || made === null
      ? null
      : {
          signature: Signature.make(own.signature),
          slot: own.slot,
          atMs: atMs(own.slot),
          inMint: carried.inputMint,
          inAmount: carried.amountIn,
          outMint: carried.outputMint,
          outAmount: carried.amountOut,
          priceUsd: priceOfTrade(made, decimalsOf(world, trade.mint)),
          valueUsdNanos: made.valueUsdNanos,
          feeUsdNanos: nanosOf(deed.fee, rate)
        }
  }

  const fillOf = (outcome: Outcome, byReceipt: ReadonlyMap<Deed["receipt"], Transaction>): CopyFill | null => {
    const { deed, pending: one, refusal } = outcome
    const { leader: wallet, place, priceUsd, sim, trade } = one
    const own = deed === null ? undefined : byReceipt.get(deed.receipt)
    const execution = own === undefined ? null : executionOf(outcome, own)
    if (place === null || (refusal === null && execution === null)) {
      return null
    }
    written += 1
    return {
      id: `fl_${run}_${String(written).padStart(9, "0")}`,
      followId: sim.follow.id,
      mint: trade.mint,
      side: trade.side,
      status: refusal?.status ?? "filled",
      reason: refusal?.reason ?? null,
      leader: { wallet, ...place, priceUsd, valueUsdNanos: trade.valueUsdNanos },
      execution
    }
  }

  const settle: Followers["settle"] = (transactions) => {
    if (outcomes.length === 0 && pending.length === 0) {
      return
    }
    const byReceipt = new Map(transactions.map((transaction) => [transaction.receipt, transaction]))
    for (const one of [...pending, ...outcomes.map((outcome) => outcome.pending)]) {
      const found = byReceipt.get(one.receipt)
      if (one.place === null && found !== undefined) {
        one.place = { signature: Signature.make(found.signature), slot: found.slot, atMs: atMs(found.slot) }
      }
    }
    for (const outcome of outcomes) {
      const fill = fillOf(outcome, byReceipt)
      if (fill !== null) {
        journal.write(fill)
      }
    }
    outcomes = []
  }

  const begin = (): void => {
    for (const wallet of wallets) {
      world.newAccount(wallet, SYSTEM_PROGRAM, new Uint8Array(0))
      world.issue(wallet, SOL, FUNDS)
    }
  }

  return { begin, copy, settle, journal }
}

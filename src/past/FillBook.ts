/**
 * Intended swaps of one owner in a replay. A swap is executed as the first transaction of its slot, on the recorded state at
 * the end of the slot before. What it changes in its pools is carried forward by one of two models:
 *
 * - `recorded`: the market stays as it was recorded. Before each swap, the owner's earlier swaps of its pools are executed
 *   once more, in their order and with their inputs, on the recorded state of the slot. Further swaps of the slot go on
 *   from there.
 * - `replayed`: from the owner's first swap on, a pool has a branch of its own. The recorded swaps of others are executed again
 *   on the branch, each with the input that it paid, whatever it gets. A second branch without the owner's swaps has to
 *   agree with the recording; from where it does not, the pool takes no more swaps.
 */
import { createHash } from "node:crypto"
import { toBase58 } from "../domain/base58.ts"
import type { BlockTransaction, TradeBlock } from "../chain/decoding/TradeBlock.ts"
import { walletAmounts } from "../api/schemas/Trade.ts"
import type { Address, Mint } from "../domain/Address.ts"
import type { ChainClock, OnChainAccount } from "../domain/OnChainAccount.ts"
import type { Accounts } from "../programs/interface/Program.ts"
import {
  accountsOfPool,
  executeHops,
  type HopFill,
  isSameState,
  Overlay,
  readPool,
  Stopped,
  swapIn
} from "./executeHops.ts"

export type FillModel = "recorded" | "replayed"

/** A swap that somebody wants. Amounts are in atomic units. */
export interface FillOrder {
  /** Chosen by the client, once for each swap. */
  readonly id: string
  readonly wallet: Address
  readonly inputMint: Mint
  readonly outputMint: Mint
  readonly amount: bigint
  /** The pools in the order of the route. */
  readonly pools: ReadonlyArray<Address>
  /** The least output. A swap that gets less fails. */
  readonly minOut: bigint
  /** What the caller was quoted. */
  readonly quotedOut: bigint
  readonly model: FillModel
  /** The newest slot when the swap was posted. */
  readonly postedSlot: number
  /** The swap is the first transaction of this slot. */
  readonly slot: number
}

export interface Fill extends FillOrder {
  /** Counts the swaps of an owner from 1. */
  readonly number: number
  /** Stands for the signature of a transaction that was never sent. */
  readonly signature: string
  /** `failed`: the program would have refused the swap. `refused`: the replay cannot tell exactly. */
  readonly status: "pending" | "filled" | "failed" | "refused"
  readonly reason: { readonly code: Stopped["code"]; readonly detail: string } | null
  /** What the swap paid out, or would have paid with `slippage_exceeded`. Null while it is pending, and without an amount. */
  readonly amountOut: bigint | null
  readonly hops: ReadonlyArray<HopFill>
  /** Time of the slot's state, in milliseconds since the Unix epoch; null while pending, and when its slot never came. */
  readonly atMs: number | null
  /** Counts the filled swaps of the wallet in its slot from 0; null unless filled. Never changes. */
  readonly rank: number | null
}

/** The owner's swaps of one pool under `recorded` that may be filled. Each slot executes them again. */
export const MOST_OF_POOL = 64

/** The recorded state when a slot begins. */
export interface SlotState {
  readonly accounts: Accounts
  readonly clock: ChainClock
}

type Swapped = Pick<HopFill, "amountIn" | "inputMint">

/** A pool that the owner changed: as it is, and as it would be without the owner. */
interface Branch {
  /** Blocks from this slot on belong to it. */
  readonly from: number
  readonly changed: Map<Address, OnChainAccount>
  readonly unchanged: Map<Address, OnChainAccount>
  /** Why the branch cannot go on; null while it can. */
  fault: string | null
}

/** The owner's earlier swaps of a pool, executed on one state of the market. */
interface Repeated {
  readonly clock: ChainClock
  /** What was read of the market. While all of it is the same, so is the result. */
  readonly read: Map<Address, OnChainAccount | null | undefined>
  /** The accounts that they changed, or why they cannot be carried there. */
  own: ReadonlyMap<Address, OnChainAccount> | Stopped
}

/** Accounts that note what is read of them. */
const noting =
  (accounts: Accounts, read: Repeated["read"]): Accounts =>
  (address) => {
    const account = accounts(address)
    read.set(address, account)
    return account
  }

const isStill = ({ clock, read }: Repeated, now: SlotState): boolean =>
  clock.slot === now.clock.slot &&
  clock.epoch === now.clock.epoch &&
  clock.unixTimestamp === now.clock.unixTimestamp &&
  Array.from(read).every(([address, account]) => now.accounts(address) === account)

const over = (base: Accounts, own: Iterable<OnChainAccount>): Overlay => {
  const overlay = new Overlay(base)
  overlay.put(own)
  return overlay
}

/** A recorded swap of a pool, with the amounts that left its wallet and reached it. */
interface OtherSwap {
  readonly pool: Address
  readonly inputMint: Mint
  /** The amounts of the swap itself, and of the whole route when it has one pool: some programs take fees beside the swap. */
  readonly amounts: ReadonlyArray<{ readonly in: bigint; readonly out: bigint }>
}

/** The swaps of a transaction in order. */
const swapsOf = ({ legs, nets }: BlockTransaction): ReadonlyArray<OtherSwap> =>
  legs.map((leg) => {
    const net = nets.find((each) => each.legs.length === 1 && each.legs[0] === leg.index && each.pool === leg.pool)
    const seen = [
      walletAmounts(leg),
      ...(net === undefined ? [] : [{ quote: net.quote.amount, token: net.token.amount }])
    ]
    return leg.side === "buy"
      ? {
          pool: leg.pool,
          inputMint: leg.quote.mint,
          amounts: seen.map((each) => ({ in: each.quote, out: each.token }))
        }
      : {
          pool: leg.pool,
          inputMint: leg.token.mint,
          amounts: seen.map((each) => ({ in: each.token, out: each.quote }))
        }
  })

export class FillBook {
  readonly #owner: string
  readonly #onFilled: (fill: Fill) => void
  readonly #fills = new Map<string, Fill>()
  #waiting: Array<Fill> = []
  /** Swaps whose slot has begun and whose earlier blocks have not all come, with the state of their slot. */
  #due: Array<{ readonly fill: Fill; readonly state: SlotState }> = []
  /** Swaps of the owner by pool, under the model `recorded`. */
  readonly #own = new Map<Address, Array<Swapped>>()
  /** The newest repetition of these swaps by pool. */
  readonly #repeated = new Map<Address, Repeated>()
  /** How many swaps of a pool are filled or pending under the model `recorded`. */
  readonly #taken = new Map<Address, number>()
  /** Filled swaps by wallet and slot. */
  readonly #ranks = new Map<string, number>()
  readonly #branches = new Map<Address, Branch>()

  constructor(owner: string, onFilled: (fill: Fill) => void = () => undefined) {
    this.#owner = owner
    this.#onFilled = onFilled
  }

  /** All swaps in the order in which they were posted. */
  get all(): ReadonlyArray<Fill> {
    return Array.from(this.#fills.values())
  }

  get(id: string): Fill | null {
    return this.#fills.get(id) ?? null
  }

  /** Takes a swap of a slot that has not begun. */
  add(order: FillOrder): Fill {
    const fill: Fill = {
      ...order,
      number: this.#fills.size + 1,
      signature: toBase58(createHash("sha512").update(`${this.#owner} ${order.wallet} ${order.id}`).digest()),
      status: "pending",
      reason: null,
      amountOut: null,
      hops: [],
      atMs: null,
      rank: null
    }
    this.#fills.set(fill.id, fill)
    this.#take(fill, 1)
    this.#waiting.push(fill)
    return fill
  }

  /** What a swap would pay in this state, with the owner's impact so far. */
  quote(
    order: Pick<FillOrder, "amount" | "inputMint" | "model" | "outputMint" | "pools">,
    { accounts, clock }: SlotState
  ) {
    const overlays = this.#overlaysFor(order, { accounts, clock }, false)
    return overlays instanceof Stopped ? overlays : executeHops(overlays, order, clock)
  }

  /** The first pool of a route that takes no more swaps of the owner under `recorded`; null when all do. */
  fullPool({ model, pools }: Pick<FillOrder, "model" | "pools">): Address | null {
    const isFull = (pool: Address) =>
      (this.#taken.get(pool) ?? 0) + pools.filter((each) => each === pool).length > MOST_OF_POOL
    return model === "recorded" ? (pools.find(isFull) ?? null) : null
  }

  #take({ model, pools }: Pick<FillOrder, "model" | "pools">, count: 1 | -1): void {
    if (model === "recorded") {
      pools.forEach((pool) => this.#taken.set(pool, (this.#taken.get(pool) ?? 0) + count))
    }
  }

  /** Executes what is due at the beginning of a slot, one swap in each step. Other work may run between the steps. */
  *slotBegins(slot: number, state: SlotState): Generator<void> {
    const due = this.#waiting.filter((fill) => fill.slot <= slot)
    if (due.length === 0) {
      return
    }
    this.#waiting = this.#waiting.filter((fill) => fill.slot > slot)
    for (const fill of due.toSorted((a, b) => a.slot - b.slot || a.number - b.number)) {
      const own = { ...state, clock: { ...state.clock, slot: fill.slot } }
      if (fill.model === "recorded") {
        this.#decide(fill, own)
        yield
        continue
      }
      // Their blocks come later. By then the accounts have changed.
      const kept = new Map(
        fill.pools.flatMap((pool) => accountsOfPool(state.accounts, pool)).map((account) => [account.address, account])
      )
      this.#due.push({ fill, state: { ...own, accounts: (address) => kept.get(address) } })
    }
  }

  /** Executes what came before this block, and the block's swaps on the branches. */
  block(block: TradeBlock, state: SlotState): void {
    this.blocksBefore(block.slot)
    if (this.#branches.size === 0) {
      return
    }
    for (const transaction of block.transactions) {
      this.#replay(swapsOf(transaction), block.slot, state)
    }
  }

  /** Nothing comes any more: refuses what still waits. */
  ended(): void {
    this.blocksBefore(Number.POSITIVE_INFINITY)
    this.#waiting = []
    for (const fill of this.#fills.values()) {
      if (fill.status === "pending") {
        const detail = `The replay ended before slot ${fill.slot}.`
        this.#end(fill, new Stopped("replay_ended", detail), null, null)
      }
    }
  }

  /** No more blocks come from before this slot. */
  blocksBefore(slot: number): void {
    const ready = this.#due.filter(({ fill }) => fill.slot <= slot)
    this.#due = this.#due.filter(({ fill }) => fill.slot > slot)
    ready.forEach(({ fill, state }) => this.#decide(fill, state))
  }

  /** Blocks are missing: no branch that was open before this slot can go on. */
  gap(slot: number): void {
    this.blocksBefore(slot)
    for (const branch of this.#branches.values()) {
      branch.fault ??= `the recording has a gap at slot ${slot}`
    }
  }

  #decide(fill: Fill, state: SlotState): void {
    const atMs = state.clock.unixTimestamp * 1000
    const overlays = this.#overlaysFor(fill, state, true)
    if (overlays instanceof Stopped) {
      return this.#end(fill, overlays, atMs, null)
    }
    const hops = executeHops(overlays, fill, state.clock)
    if (hops instanceof Stopped) {
      return this.#end(fill, hops, atMs, null)
    }
    const amountOut = hops.at(-1)?.amountOut ?? 0n
    if (amountOut < fill.minOut) {
      const detail = `The swap would pay ${amountOut}, and at least ${fill.minOut} was asked for.`
      return this.#end(fill, new Stopped("slippage_exceeded", detail), atMs, amountOut)
    }
    this.#carry(fill, hops, overlays, state)
    const place = `${fill.wallet} ${fill.slot}`
    const rank = this.#ranks.get(place) ?? 0
    this.#ranks.set(place, rank + 1)
    const filled: Fill = { ...fill, status: "filled", amountOut, hops, atMs, rank }
    this.#fills.set(fill.id, filled)
    this.#onFilled(filled)
  }

  #end(fill: Fill, stopped: Stopped, atMs: number | null, amountOut: bigint | null): void {
    const { code, detail, isOfProgram } = stopped
    const status = isOfProgram ? "failed" : "refused"
    this.#fills.set(fill.id, { ...fill, status, reason: { code, detail }, amountOut, atMs })
    this.#take(fill, -1)
  }

  /**
   * The accounts of each pool with the owner's earlier swaps in them. No two pools share an account that a swap changes.
   * `isCurrent`: every block before the state has come.
   */
  #overlaysFor(
    { model, pools }: Pick<Fill, "model" | "pools">,
    state: SlotState,
    isCurrent: boolean
  ): ((pool: Address) => Overlay) | Stopped {
    const overlays = new Map<Address, Overlay>()
    for (const pool of new Set(pools)) {
      const overlay = model === "recorded" ? this.#repeat(pool, state) : this.#branchOf(pool, state, isCurrent)
      if (overlay instanceof Stopped) {
        return overlay
      }
      overlays.set(pool, overlay)
    }
    return (pool) => overlays.get(pool) ?? new Overlay(state.accounts)
  }

  /** The pool with the owner's earlier swaps. They are executed once for each state of the pool. */
  #repeat(pool: Address, state: SlotState): Overlay | Stopped {
    const earlier = this.#own.get(pool)
    if (earlier === undefined) {
      return new Overlay(state.accounts)
    }
    const known = this.#repeated.get(pool)
    const repeated = known !== undefined && isStill(known, state) ? known : repeat(earlier, pool, state)
    this.#repeated.set(pool, repeated)
    const { own, read } = repeated
    return own instanceof Stopped ? own : over(noting(state.accounts, read), own.values())
  }

  #branchOf(pool: Address, { accounts, clock }: SlotState, isCurrent: boolean): Overlay | Stopped {
    const branch = this.#branches.get(pool)
    if (branch === undefined) {
      return new Overlay(accounts)
    }
    if (isCurrent && branch.fault === null) {
      const recorded = readPool(accounts, pool)
      const shadow = readPool(over(accounts, branch.unchanged.values()).at, pool)
      const isSame =
        !(recorded instanceof Stopped) && !(shadow instanceof Stopped) && isSameState(recorded.pool, shadow.pool, clock)
      branch.fault = isSame ? null : "something else than swaps changed it"
    }
    return branch.fault === null
      ? over(accounts, branch.changed.values())
      : new Stopped("pool_diverged", `Pool ${pool} cannot be replayed any further: ${branch.fault}.`)
  }

  /** Keeps what a swap changed. */
  #carry(
    { model, slot }: Fill,
    hops: ReadonlyArray<HopFill>,
    overlayOf: (pool: Address) => Overlay,
    { accounts }: SlotState
  ): void {
    for (const { amountIn, inputMint, pool } of hops) {
      const { own } = overlayOf(pool)
      if (model === "recorded") {
        const earlier = this.#own.get(pool) ?? []
        earlier.push({ amountIn, inputMint })
        this.#own.set(pool, earlier)
        const repeated = this.#repeated.get(pool)
        if (repeated !== undefined) {
          repeated.own = own
        }
        continue
      }
      const branch: Branch = this.#branches.get(pool) ?? {
        from: slot,
        changed: new Map(),
        unchanged: new Map(
          Array.from(own.keys()).flatMap((address) => {
            const account = accounts(address)
            return account === undefined || account === null ? [] : [[address, account] as const]
          })
        ),
        fault: null
      }
      own.forEach((account, address) => branch.changed.set(address, account))
      this.#branches.set(pool, branch)
    }
  }

  /**
   * Executes the swaps of a recorded transaction on both branches. When the program refuses one on the changed branch, the
   * transaction changes nothing there.
   */
  #replay(swaps: ReadonlyArray<OtherSwap>, slot: number, { accounts, clock }: SlotState): void {
    const changes = new Map<Branch, Overlay>()
    let isRefused = false
    for (const swap of swaps) {
      const { inputMint, pool } = swap
      const branch = this.#branches.get(pool)
      if (branch === undefined || branch.fault !== null || slot < branch.from) {
        continue
      }
      const amount = playUnchanged(branch, swap, { accounts, clock })
      if (typeof amount === "string") {
        branch.fault = amount
        continue
      }
      const ours = changes.get(branch) ?? over(accounts, branch.changed.values())
      const swapped = swapIn(ours, pool, { mint: inputMint, amount }, clock)
      if (!(swapped instanceof Stopped)) {
        changes.set(branch, ours)
      } else if (swapped.isOfProgram) {
        isRefused = true
      } else {
        branch.fault = swapped.detail
      }
    }
    if (!isRefused) {
      changes.forEach(({ own }, branch) => own.forEach((account, address) => branch.changed.set(address, account)))
    }
  }
}

/** Executes the owner's earlier swaps of a pool on this state. */
const repeat = (earlier: ReadonlyArray<Swapped>, pool: Address, { accounts, clock }: SlotState): Repeated => {
  const read: Repeated["read"] = new Map()
  const overlay = new Overlay(noting(accounts, read))
  for (const { amountIn, inputMint } of earlier) {
    const again = swapIn(overlay, pool, { mint: inputMint, amount: amountIn }, clock)
    if (again instanceof Stopped) {
      const detail = `Your earlier swap of ${amountIn} in pool ${pool} cannot be carried to this slot: ${again.detail}`
      return { clock, read, own: new Stopped("pool_diverged", detail) }
    }
  }
  return { clock, read, own: overlay.own }
}

/** Executes a recorded swap on the branch without the owner. Returns its input, or why the branch cannot go on. */
const playUnchanged = (
  { unchanged }: Branch,
  { amounts, inputMint, pool }: OtherSwap,
  { accounts, clock }: SlotState
): bigint | string => {
  let fault = "a recorded swap has no amounts"
  for (const amount of amounts) {
    const shadow = over(accounts, unchanged.values())
    const again = swapIn(shadow, pool, { mint: inputMint, amount: amount.in }, clock)
    if (!(again instanceof Stopped) && again.amountOut === amount.out) {
      shadow.own.forEach((account, address) => unchanged.set(address, account))
      return amount.in
    }
    const now = again instanceof Stopped ? again.detail : `executed again it pays ${again.amountOut}`
    fault = `a recorded swap of ${amount.in} paid ${amount.out}, and ${now}`
  }
  return fault
}

/**
 * Intended swaps of one owner in a replay. A swap is executed as the first transaction of its slot, on the recorded state at
 * the end of the slot before. What it changes in its pools is carried forward by one of two models:
 *
 * - `recorded`: the market stays as it was recorded. Before each swap, the owner's earlier swaps of its pools are executed
 *   once more, in their order and with their inputs, on the recorded state of the slot.
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
  /** What the swap paid out. Null while it is pending, and when it was refused. */
  readonly amountOut: bigint | null
  readonly hops: ReadonlyArray<HopFill>
  /** Time of the slot's state, in milliseconds since the Unix epoch; null while pending. */
  readonly atMs: number | null
}

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
  readonly #fills = new Map<string, Fill>()
  #waiting: Array<Fill> = []
  /** Swaps whose slot has begun and whose earlier blocks have not all come, with the state of their slot. */
  #due: Array<{ readonly fill: Fill; readonly state: SlotState }> = []
  /** Swaps of the owner by pool, under the model `recorded`. */
  readonly #own = new Map<Address, Array<Swapped>>()
  readonly #branches = new Map<Address, Branch>()

  constructor(owner: string) {
    this.#owner = owner
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
      atMs: null
    }
    this.#fills.set(fill.id, fill)
    this.#waiting.push(fill)
    return fill
  }

  /** What a swap would pay in this state, with the owner's impact so far. */
  quote(
    order: Pick<FillOrder, "amount" | "inputMint" | "model" | "outputMint" | "pools">,
    { accounts, clock }: SlotState
  ) {
    const overlay = this.#overlayFor(order, { accounts, clock }, false)
    return overlay instanceof Stopped ? overlay : executeHops(overlay, order, clock)
  }

  /** Executes what is due at the beginning of a slot. */
  slotBegins(slot: number, state: SlotState): void {
    const due = this.#waiting.filter((fill) => fill.slot <= slot)
    if (due.length === 0) {
      return
    }
    this.#waiting = this.#waiting.filter((fill) => fill.slot > slot)
    for (const fill of due.toSorted((a, b) => a.slot - b.slot || a.number - b.number)) {
      const own = { ...state, clock: { ...state.clock, slot: fill.slot } }
      if (fill.model === "recorded") {
        this.#decide(fill, own)
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
      for (const swap of swapsOf(transaction)) {
        const branch = this.#branches.get(swap.pool)
        if (branch !== undefined && branch.fault === null && block.slot >= branch.from) {
          branch.fault = this.#replay(branch, swap, state)
        }
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
    const overlay = this.#overlayFor(fill, state, true)
    const hops = overlay instanceof Stopped ? overlay : executeHops(overlay, fill, state.clock)
    if (overlay instanceof Stopped || hops instanceof Stopped) {
      const stopped = hops instanceof Stopped ? hops : new Stopped("program_refused", "no swap")
      return this.#end(fill, stopped, atMs, null)
    }
    const amountOut = hops.at(-1)?.amountOut ?? 0n
    if (amountOut < fill.minOut) {
      const detail = `The swap would pay ${amountOut}, and at least ${fill.minOut} was asked for.`
      return this.#end(fill, new Stopped("slippage_exceeded", detail), atMs, amountOut)
    }
    this.#carry(fill, hops, overlay, state)
    this.#fills.set(fill.id, { ...fill, status: "filled", amountOut, hops, atMs })
  }

  #end(fill: Fill, stopped: Stopped, atMs: number, amountOut: bigint | null): void {
    const { code, detail, isOfProgram } = stopped
    const status = isOfProgram ? "failed" : "refused"
    this.#fills.set(fill.id, { ...fill, status, reason: { code, detail }, amountOut, atMs })
  }

  /** The accounts of the pools with the owner's earlier swaps in them. `isCurrent`: every block before the state has come. */
  #overlayFor(
    { model, pools }: Pick<Fill, "model" | "pools">,
    state: SlotState,
    isCurrent: boolean
  ): Overlay | Stopped {
    const own = new Overlay(state.accounts)
    for (const pool of new Set(pools)) {
      const stopped =
        model === "recorded" ? this.#repeat(own, pool, state) : this.#branchInto(own, pool, state, isCurrent)
      if (stopped !== null) {
        return stopped
      }
    }
    return own
  }

  #repeat(overlay: Overlay, pool: Address, { clock }: SlotState): Stopped | null {
    for (const { amountIn, inputMint } of this.#own.get(pool) ?? []) {
      const again = swapIn(overlay, pool, { mint: inputMint, amount: amountIn }, clock)
      if (again instanceof Stopped) {
        const detail = `Your earlier swap of ${amountIn} in pool ${pool} cannot be carried to this slot: ${again.detail}`
        return new Stopped("pool_diverged", detail)
      }
    }
    return null
  }

  #branchInto(overlay: Overlay, pool: Address, { accounts, clock }: SlotState, isCurrent: boolean): Stopped | null {
    const branch = this.#branches.get(pool)
    if (branch === undefined) {
      return null
    }
    const diverged = (why: string) =>
      new Stopped("pool_diverged", `Pool ${pool} cannot be replayed any further: ${why}.`)
    if (isCurrent && branch.fault === null) {
      const recorded = readPool(accounts, pool)
      const shadow = readPool(over(accounts, branch.unchanged.values()).at, pool)
      const isSame =
        !(recorded instanceof Stopped) && !(shadow instanceof Stopped) && isSameState(recorded.pool, shadow.pool, clock)
      branch.fault = isSame ? null : "something else than swaps changed it"
    }
    if (branch.fault !== null) {
      return diverged(branch.fault)
    }
    overlay.put(branch.changed.values())
    return null
  }

  /** Keeps what a swap changed. */
  #carry({ model, slot }: Fill, hops: ReadonlyArray<HopFill>, overlay: Overlay, { accounts }: SlotState): void {
    for (const { amountIn, inputMint, pool } of hops) {
      if (model === "recorded") {
        this.#own.set(pool, [...(this.#own.get(pool) ?? []), { amountIn, inputMint }])
        continue
      }
      const touched = accountsOfPool(overlay.at, pool).filter(({ address }) => overlay.own.has(address))
      const branch: Branch = this.#branches.get(pool) ?? {
        from: slot,
        changed: new Map(),
        unchanged: new Map(
          touched.flatMap(({ address }) => accounts(address) ?? []).map((each) => [each.address, each])
        ),
        fault: null
      }
      touched.forEach((account) => branch.changed.set(account.address, account))
      this.#branches.set(pool, branch)
    }
  }

  /** Executes a recorded swap on both branches. Returns why the branch cannot go on, or null. */
  #replay(branch: Branch, { amounts, inputMint, pool }: OtherSwap, { accounts, clock }: SlotState): string | null {
    let fault = "a recorded swap has no amounts"
    for (const amount of amounts) {
      const shadow = over(accounts, branch.unchanged.values())
      const input = { mint: inputMint, amount: amount.in }
      const again = swapIn(shadow, pool, input, clock)
      if (again instanceof Stopped || again.amountOut !== amount.out) {
        const now = again instanceof Stopped ? again.detail : `executed again it pays ${again.amountOut}`
        fault = `a recorded swap of ${amount.in} paid ${amount.out}, and ${now}`
        continue
      }
      shadow.own.forEach((account, address) => branch.unchanged.set(address, account))
      const ours = over(accounts, branch.changed.values())
      const swapped = swapIn(ours, pool, input, clock)
      if (swapped instanceof Stopped) {
        // The program refuses it now: the other wallet's transaction fails, and changes nothing.
        return swapped.isOfProgram ? null : swapped.detail
      }
      ours.own.forEach((account, address) => branch.changed.set(address, account))
      return null
    }
    return fault
  }
}

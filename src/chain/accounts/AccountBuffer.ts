import type { OnChainAccount } from "../../domain/OnChainAccount.ts"
import type { Address } from "../../domain/Address.ts"
import type { AccountState } from "../AccountState.ts"
import type { ChainEvent, Snapshot } from "../ChainFeed.ts"
import { mayPrecede, OpenWrites, sameAccount, type WriteOutcome } from "./OpenWrites.ts"

/** A followed account that has to be read before its writes can be emitted. */
interface Unread {
  /** The newest write received in the meantime. */
  early: AccountState | undefined
  /** True while a response waits for the end of its slot. */
  answered: boolean
}

/**
 * True when `next` is newer than `known`. Within one slot the higher write version wins; without write versions of one
 * stream, the later arrival wins.
 */
const supersedes = (known: AccountState | undefined, next: AccountState): boolean =>
  known === undefined ||
  next.slot > known.slot ||
  (next.slot === known.slot &&
    mayPrecede(known, next) &&
    // A write that restores the old state is kept for its version, so that the versions in between are dropped.
    (next.writeVersion !== undefined || !sameAccount(known.account, next.account)))

/** The newest state: highest slot, then highest write version. Without write versions the later arrival wins. */
const newest = (...states: ReadonlyArray<AccountState | undefined>): AccountState | undefined =>
  states.reduce(
    (best, state) =>
      state !== undefined &&
      (best === undefined || state.slot > best.slot || (state.slot === best.slot && mayPrecede(best, state)))
        ? state
        : best,
    undefined
  )

const NO_EVENTS: ReadonlyArray<never> = []

/**
 * Holds the states of followed accounts until their slot has ended. So all writes of one slot are emitted together, and
 * a snapshot includes every write of its slot. The slot of an account never decreases.
 */
export class AccountBuffer {
  /** The newest emitted state of each account. States from before a gap stay: no older state is emitted afterwards. */
  readonly #emitted = new Map<Address, AccountState>()
  readonly #unread = new Map<Address, Unread>()
  /** Accounts whose reader may have missed a write. */
  readonly #behind = new Set<Address>()
  readonly #open = new OpenWrites()
  #answers: Array<{ readonly slot: number; readonly states: ReadonlyMap<Address, AccountState> }> = []
  #isReplaying = false
  readonly #isPrivate: (address: Address) => boolean

  /** `isPrivate` is true for accounts that are kept but never emitted. */
  constructor(isPrivate: (address: Address) => boolean) {
    this.#isPrivate = isPrivate
  }

  /** Writes that wait for their slot to end. */
  get size(): number {
    return this.#open.size
  }

  /** True while a reader may hold an outdated state. */
  get isBehind(): boolean {
    return this.#isReplaying || this.#behind.size > 0
  }

  /** True while an account lacks a write that was missed. */
  get lacksWrites(): boolean {
    return this.#behind.size > 0
  }

  /** True while a new connection repeats the writes since before the last one was lost. */
  get isReplaying(): boolean {
    return this.#isReplaying
  }

  /** The newest emitted state. For a private account, the state that would have been emitted. */
  state(address: Address): AccountState | undefined {
    return this.#emitted.get(address)
  }

  /** Starts to follow an account. Its state comes from a response first, then from writes. */
  follow(address: Address): void {
    if (!this.#unread.has(address) && !this.#emitted.has(address)) {
      this.#unread.set(address, { early: undefined, answered: false })
    }
  }

  forget(address: Address): void {
    this.#emitted.delete(address)
    this.#unread.delete(address)
    this.#behind.delete(address)
  }

  /** Marks an account to be read again. `missed`: the reader lacks a write. */
  doubt(address: Address, { missed }: { readonly missed: boolean }): void {
    const unread = this.#unread.get(address)
    if (unread === undefined && !this.#emitted.has(address)) {
      return
    }
    this.#unread.set(address, { early: unread?.early, answered: false })
    if (missed && this.#emitted.has(address)) {
      this.#behind.add(address)
    }
  }

  /**
   * The chain has left out the blocks of the slots between these two. Drops what waits from them, and marks every
   * account with a state from them to be read again. Tells whether a state from them was emitted, or only waited.
   */
  dropBlocks(after: number, before: number): "emitted" | "waiting" | "nothing" {
    const isDropped = ({ slot }: AccountState) => slot > after && slot < before
    const emitted = Array.from(this.#emitted).flatMap(([address, state]) => (isDropped(state) ? [address] : []))
    const early = Array.from(this.#unread).flatMap(([address, unread]) =>
      unread.early !== undefined && isDropped(unread.early) ? [address] : []
    )
    const read = this.#answers.filter(({ slot }) => slot > after && slot < before)
    this.#answers = this.#answers.filter((answer) => !read.includes(answer))
    early.forEach((address) => this.#unread.set(address, { early: undefined, answered: false }))
    const waiting = [
      ...this.#open.dropBetween(after, before),
      ...read.flatMap(({ states }) => Array.from(states.keys()))
    ]
    emitted.forEach((address) => this.doubt(address, { missed: true }))
    waiting.forEach((address) => this.doubt(address, { missed: false }))
    return emitted.length > 0 ? "emitted" : early.length + waiting.length > 0 ? "waiting" : "nothing"
  }

  /** Drops the waiting writes of a lost connection, because they may be only half of a slot. */
  dropWaiting(): void {
    this.#open.clear()
    this.#answers = []
  }

  /** Begins another chain. States of the old chain no longer keep out lower slots. */
  startAnew(): void {
    const followed = [...this.#emitted.keys(), ...this.#unread.keys()]
    this.#emitted.clear()
    this.#unread.clear()
    this.#behind.clear()
    this.#isReplaying = false
    this.dropWaiting()
    for (const address of followed) {
      this.follow(address)
      // A reader still holds a state of the old chain.
      this.#behind.add(address)
    }
  }

  /** Marks every account to be read again, for a new connection without a replay. */
  doubtAll(): void {
    this.dropWaiting()
    this.#isReplaying = false
    for (const address of this.#emitted.keys()) {
      this.#behind.add(address)
    }
    for (const address of new Set([...this.#emitted.keys(), ...this.#unread.keys()])) {
      this.#unread.set(address, { early: undefined, answered: false })
    }
  }

  /** Continues after a loss whose writes are repeated. Only accounts that were unread then have to be read. */
  resume(): void {
    this.dropWaiting()
    this.#isReplaying = true
    for (const address of Array.from(this.#unread.keys())) {
      this.#unread.set(address, { early: undefined, answered: false })
    }
  }

  /** Ends the replay: the missed writes have been repeated. */
  endReplay(): void {
    this.#isReplaying = false
  }

  /** Accounts that have to be read. Pass the map on to `answer`. */
  unread(): ReadonlyMap<Address, object> {
    return new Map(Array.from(this.#unread).filter(([, { answered }]) => !answered))
  }

  write(address: Address, state: AccountState): WriteOutcome {
    const emitted = this.#emitted.get(address)
    if (emitted === undefined && !this.#unread.has(address)) {
      return "unknown"
    }
    if (!supersedes(emitted, state)) {
      return emitted !== undefined && sameAccount(emitted.account, state.account) ? "repeated" : "older"
    }
    return this.#open.add(address, state)
  }

  /** Takes the states that were read for `requested`. An account that was doubted in the meantime stays unread. */
  answer(requested: ReadonlyMap<Address, object>, states: ReadonlyMap<Address, AccountState>): void {
    let slot = 0
    for (const [address, state] of states) {
      const unread = this.#unread.get(address)
      if (unread !== undefined && unread === requested.get(address)) {
        unread.answered = true
      }
      slot = Math.max(slot, state.slot)
    }
    this.#answers.push({ slot, states })
  }

  /**
   * Takes the states of accounts that were all read at one slot without a connection. Emits those that are newer than
   * the known states. Once there is a connection, every account is read again.
   */
  adopt(states: ReadonlyMap<Address, AccountState>): ReadonlyArray<ChainEvent> {
    const changed = new Map<Address, AccountState>()
    for (const [address, state] of states) {
      const known = this.#emitted.get(address)
      if ((known !== undefined || this.#unread.has(address)) && supersedes(known, state)) {
        this.#emitted.set(address, state)
        if (this.#unread.has(address)) {
          // Its writes are not emitted before it is read.
          this.#behind.add(address)
        }
        if (known === undefined || !sameAccount(known.account, state.account)) {
          changed.set(address, state)
        }
      }
    }
    const snapshot = this.#snapshot(changed)
    return snapshot.accounts.size === 0 ? [] : [{ _tag: "Snapshot", snapshot }]
  }

  /** Ends every slot up to and including this one, and returns the events to emit. */
  end(slot: number): ReadonlyArray<ChainEvent> {
    // Called with every write. Mostly no slot has ended.
    const ended = this.#open.take(slot)
    if (ended.length === 0 && this.#answers.length === 0) {
      return NO_EVENTS
    }
    const writes = ended.flatMap(([of, states]) => this.#settle(of, states))
    const answers = this.#answers.filter((answer) => answer.slot <= slot)
    this.#answers = this.#answers.filter((answer) => answer.slot > slot)
    return [...writes, ...answers.flatMap(({ states }) => this.#conclude(states))]
  }

  /** The newest emitted state of every account. */
  everything(): Snapshot {
    return this.#snapshot(this.#emitted)
  }

  #settle(slot: number, writes: ReadonlyMap<Address, AccountState>): ReadonlyArray<ChainEvent> {
    const accounts = new Map<Address, OnChainAccount | null>()
    for (const [address, state] of writes) {
      const unread = this.#unread.get(address)
      const emitted = this.#emitted.get(address)
      if (unread !== undefined) {
        unread.early = newest(unread.early, state)
      } else if (emitted !== undefined && supersedes(emitted, state)) {
        this.#emitted.set(address, state)
        // A slot that another stream repeats is kept for its versions. It is no news.
        const isRepeated =
          emitted.slot === slot && emitted.stream !== state.stream && sameAccount(emitted.account, state.account)
        if (!isRepeated && !this.#isPrivate(address)) {
          accounts.set(address, state.account)
        }
      }
    }
    return accounts.size === 0 ? [] : [{ _tag: "Writes", slot, accounts }]
  }

  #conclude(states: ReadonlyMap<Address, AccountState>): ReadonlyArray<ChainEvent> {
    const concluded = new Map<Address, AccountState>()
    for (const [address, read] of states) {
      const unread = this.#unread.get(address)
      const state = newest(this.#emitted.get(address), read, unread?.early)
      if (unread?.answered === true && state !== undefined) {
        this.#unread.delete(address)
        this.#behind.delete(address)
        this.#emitted.set(address, state)
        concluded.set(address, state)
      }
    }
    const snapshot = this.#snapshot(concluded)
    return snapshot.accounts.size === 0 ? [] : [{ _tag: "Snapshot", snapshot }]
  }

  #snapshot(states: ReadonlyMap<Address, AccountState>): Snapshot {
    let slot = 0
    const accounts = new Map<Address, OnChainAccount | null>()
    for (const [address, state] of states) {
      if (!this.#isPrivate(address)) {
        slot = Math.max(slot, state.slot)
        accounts.set(address, state.account)
      }
    }
    return { slot, accounts }
  }
}

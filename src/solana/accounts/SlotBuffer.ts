import type { OnChainAccount } from "../../domain/OnChainAccount.ts"
import type { Address } from "../../domain/Address.ts"
import type { AccountState } from "./accountJson.ts"
import type { ChainEvent, Snapshot } from "./ChainFeed.ts"
import { mayPrecede, OpenWrites, sameAccount, type WriteOutcome } from "./OpenWrites.ts"

/** A followed account whose state has to be read before its writes are emitted. */
interface Unread {
  /** The newest write received meanwhile. */
  early: AccountState | undefined
  /** True when a response waits for the end of its slot. */
  answered: boolean
}

/**
 * True when `next` supersedes `known`. Of two states of one slot the higher version counts, without versions of one stream the
 * later one received.
 */
const supersedes = (known: AccountState | undefined, next: AccountState): boolean =>
  known === undefined ||
  next.slot > known.slot ||
  (next.slot === known.slot &&
    mayPrecede(known, next) &&
    // A state that comes back is kept for its version, which drops the ones in between.
    (next.writeVersion !== undefined || !sameAccount(known.account, next.account)))

/** The state of the highest slot; of equals that of the highest version, without versions the last. */
const newest = (...states: ReadonlyArray<AccountState | undefined>): AccountState | undefined =>
  states.reduce(
    (best, state) =>
      state !== undefined &&
      (best === undefined || state.slot > best.slot || (state.slot === best.slot && mayPrecede(best, state)))
        ? state
        : best,
    undefined
  )

/**
 * Holds the states of followed accounts until their slot has ended, so that writes of one slot are emitted together, and a
 * snapshot includes every write of its slot. The slot of an account never decreases.
 */
export class SlotBuffer {
  /** The newest emitted state of each account; states from before a gap stay as a floor. */
  readonly #emitted = new Map<Address, AccountState>()
  readonly #unread = new Map<Address, Unread>()
  /** Accounts of which a reader may have missed a write. */
  readonly #behind = new Set<Address>()
  readonly #open = new OpenWrites()
  #answers: Array<{ readonly slot: number; readonly states: ReadonlyMap<Address, AccountState> }> = []
  #isReplaying = false
  readonly #isPrivate: (address: Address) => boolean

  /** Private accounts are kept and never emitted. */
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

  /** True while writes since before the loss of a connection are repeated. */
  get isReplaying(): boolean {
    return this.#isReplaying
  }

  /** The newest emitted state; of a private account the newest that would have been. */
  state(address: Address): AccountState | undefined {
    return this.#emitted.get(address)
  }

  /** Expects the state of the account: first from a response, then from writes. */
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

  /** The account has to be read again. `missed`: the reader lacks a write. */
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

  /** The connection was lost: waiting writes may be half of a slot. */
  dropWaiting(): void {
    this.#open.clear()
    this.#answers = []
  }

  /** The chain is another one: states of the one before are no floor for those of this one. */
  startAnew(): void {
    const followed = [...this.#emitted.keys(), ...this.#unread.keys()]
    this.#emitted.clear()
    this.#unread.clear()
    this.#behind.clear()
    this.#isReplaying = false
    this.dropWaiting()
    for (const address of followed) {
      this.follow(address)
      // A reader holds the state of the chain before.
      this.#behind.add(address)
    }
  }

  /** A new connection: every account has to be read again. */
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

  /** A new connection that repeats every write since before the loss of the one before: only what was not read then is read. */
  resume(): void {
    this.dropWaiting()
    this.#isReplaying = true
    for (const address of Array.from(this.#unread.keys())) {
      this.#unread.set(address, { early: undefined, answered: false })
    }
  }

  /** The missed writes have been repeated. */
  endReplay(): void {
    this.#isReplaying = false
  }

  /** Accounts that have to be read. The value is passed back to `answer`. */
  unread(): ReadonlyMap<Address, object> {
    return new Map(Array.from(this.#unread).filter(([, { answered }]) => !answered))
  }

  /** Takes a write. */
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

  /** Takes the states read for the accounts of `requested`. One doubted meanwhile stays unread. */
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
   * Takes the states of accounts that were all read at one slot, without a connection. They are emitted where they are newer
   * than the known ones; every account is read again once there is a connection.
   */
  adopt(states: ReadonlyMap<Address, AccountState>): ReadonlyArray<ChainEvent> {
    const changed = new Map<Address, AccountState>()
    for (const [address, state] of states) {
      const known = this.#emitted.get(address)
      if ((known !== undefined || this.#unread.has(address)) && supersedes(known, state)) {
        this.#emitted.set(address, state)
        if (known === undefined || !sameAccount(known.account, state.account)) {
          changed.set(address, state)
        }
      }
    }
    const snapshot = this.#snapshot(changed)
    return snapshot.accounts.size === 0 ? [] : [{ _tag: "Snapshot", snapshot }]
  }

  /** The events to emit once every slot up to and including this one has ended. */
  end(slot: number): ReadonlyArray<ChainEvent> {
    const writes = this.#open.take(slot).flatMap(([ended, states]) => this.#settle(ended, states))
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
        // A slot that another stream repeats is kept for its versions, and no news.
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

import type { Mint } from "../../domain/Address.ts"
import type { TokenProgram } from "../../api/schemas/Token.ts"
import type { CoverageReason } from "../../domain/Scalar.ts"
import { readHoldings } from "../../chain/decoding/holdings.ts"
import type { CountedBatch } from "../model/TradeBatch.ts"
import type { HolderTable } from "./HolderTable.ts"

/** Bounds of the tokens in memory. */
export interface HolderLimits {
  /** Tokens that are followed. */
  readonly mints: number
  /** Owners of all followed tokens together, and of one token. */
  readonly owners: number
}

/** Why the accounts of a token cannot be read, and when to try again. */
export interface HolderRefusal {
  readonly reason: CoverageReason
  readonly retryAtMs: number
}

interface Changes {
  readonly slot: number
  readonly list: string
}

/** A token that is followed or waits to be. */
export interface FollowedToken {
  readonly mint: Mint
  readonly tokenProgram: TokenProgram
  /** Null until its accounts are read. */
  table: HolderTable | null
  /** The slot at which the accounts were read. */
  readSlot: number
  readAtMs: number
  /** False after a gap in the blocks, until the accounts are read again. */
  isWhole: boolean
  phase: "idle" | "queued" | "reading"
  /** The next read must have at least this slot, because `pending` lacks earlier blocks. */
  minSlot: number
  /** Changes of the blocks that arrived during a read. */
  pending: Array<Changes>
  refusal: HolderRefusal | null
}

/** The most tokens that wait to be read, and the most changes that may arrive during one read. */
const MOST_QUEUED = 32
const MOST_PENDING = 100_000
/** The number of owners is checked once in this many blocks, because blocks change it too. */
const ROOM_EVERY = 100
/** First estimate of the time of a read, in milliseconds. */
const FIRST_ESTIMATE_MS = 2000

/** The holders of followed tokens, kept up to date by blocks. Synchronous; one writer. */
export class HolderBook {
  readonly #limits: HolderLimits
  /** The least recently used first. */
  readonly #tokens = new Map<Mint, FollowedToken>()
  readonly #queue: Array<FollowedToken> = []
  #slot = 0
  #taken = 0
  #readMs = FIRST_ESTIMATE_MS

  constructor(limits: HolderLimits) {
    this.#limits = limits
  }

  /** The slot of the newest block; 0 before the first. */
  get slot(): number {
    return this.#slot
  }

  /** Most owners of a token. */
  get mostOwners(): number {
    return this.#limits.owners
  }

  /** Tokens whose accounts were read. */
  get followed(): number {
    return Array.from(this.#tokens.values()).filter(({ table }) => table !== null).length
  }

  /** Tokens whose accounts were read and whose blocks are all known. */
  whole(): ReadonlyArray<FollowedToken & { readonly table: HolderTable }> {
    return Array.from(this.#tokens.values()).filter(
      (token): token is FollowedToken & { table: HolderTable } => token.table !== null && token.isWhole
    )
  }

  /** The token if it is followed or waits; null for any other. Does not count as a use. */
  peek(mint: Mint): FollowedToken | null {
    return this.#tokens.get(mint) ?? null
  }

  /** Why no further token can be followed without dropping another; null while one can. */
  get lacksRoom(): "backfill_running" | "limit_clipped" | null {
    return this.#tokens.size >= this.#limits.mints
      ? "limit_clipped"
      : this.#queue.length >= MOST_QUEUED
        ? "backfill_running"
        : null
  }

  /** The token, queued when its accounts must be read; null when too many wait already. */
  use(mint: Mint, tokenProgram: TokenProgram, nowMs: number): FollowedToken | null {
    const known = this.#tokens.get(mint)
    if (known === undefined && this.#queue.length >= MOST_QUEUED) {
      return null
    }
    const token = known ?? newToken(mint, tokenProgram)
    this.#tokens.delete(mint)
    this.#tokens.set(mint, token)
    const isDue = token.refusal === null || nowMs >= token.refusal.retryAtMs
    if (token.phase === "idle" && (token.table === null || !token.isWhole) && isDue) {
      this.#enqueue(token)
    }
    return token
  }

  /** Estimated milliseconds until the token is read. */
  readyInMs(token: FollowedToken | null): number {
    const place = token === null ? this.#queue.length : this.#queue.indexOf(token) + 1
    return Math.ceil((place + 1) * this.#readMs)
  }

  /**
   * Applies a block. When blocks before it or parts of it are missing, all tokens are incomplete until they are read
   * again.
   */
  take({ batch: { afterGap, holdings, slot }, isAnew, missed }: CountedBatch): void {
    if (isAnew) {
      this.#tokens.clear()
      this.#queue.length = 0
    }
    if (afterGap || isAnew || missed > 0 || holdings === undefined || this.#slot === 0) {
      this.#tokens.forEach((token) => this.#interrupt(token, slot))
    }
    this.#slot = slot
    this.#taken++
    if (this.#taken % ROOM_EVERY === 0) {
      this.#makeRoom(null)
    }
    for (const [place, mint] of this.#tokens.size === 0 ? [] : (holdings?.mints ?? []).entries()) {
      const token = this.#tokens.get(mint)
      if (token !== undefined) {
        this.#change(token, { slot, list: holdings?.changes[place] ?? "" })
      }
    }
  }

  /** Notes that blocks may have been missed: the next block counts as after a gap. */
  lose(): void {
    this.#slot = 0
  }

  /** The next token to read; null when none waits. Its changes are kept from now on. */
  begin(): FollowedToken | null {
    const token = this.#queue.shift()
    if (token === undefined) {
      return null
    }
    token.phase = "reading"
    token.pending = []
    token.minSlot = Math.max(token.minSlot, this.#slot)
    return token
  }

  /**
   * Ends a read with the accounts of a slot, and applies the changes of later blocks to them. Returns false when blocks
   * between the slot and the kept changes are missing, or contradict the accounts. The read has failed then.
   */
  finish(token: FollowedToken, table: HolderTable, slot: number, { nowMs, tookMs }: ReadTimes): boolean {
    this.#readMs = tookMs
    if (slot < token.minSlot || !token.pending.every((changes) => changes.slot <= slot || apply(table, changes.list))) {
      return false
    }
    token.table = table
    token.readSlot = slot
    token.readAtMs = nowMs
    token.isWhole = true
    token.refusal = null
    this.#end(token)
    this.#makeRoom(token)
    return true
  }

  /** Ends a read without accounts. */
  fail(token: FollowedToken, refusal: HolderRefusal): void {
    token.refusal = refusal
    this.#end(token)
    this.#makeRoom(token)
  }

  #end(token: FollowedToken): void {
    token.phase = "idle"
    token.pending = []
  }

  #enqueue(token: FollowedToken): void {
    token.phase = "queued"
    this.#queue.push(token)
  }

  #interrupt(token: FollowedToken, slot: number): void {
    token.isWhole = false
    token.minSlot = slot
    token.pending = []
    if (token.phase === "idle" && token.table !== null) {
      this.#enqueue(token)
    }
  }

  #change(token: FollowedToken, changes: Changes): void {
    if (token.phase === "reading") {
      token.pending.push(changes)
      if (token.pending.length > MOST_PENDING) {
        this.#interrupt(token, changes.slot)
      }
    }
    if (token.table !== null && changes.slot > token.readSlot && !apply(token.table, changes.list)) {
      this.#interrupt(token, changes.slot)
    }
  }

  /** Drops the least recently used tokens until the rest is within the limits. */
  #makeRoom(latest: FollowedToken | null): void {
    let owners = 0
    this.#tokens.forEach(({ table }) => (owners += table?.size ?? 0))
    for (const token of this.#tokens.values()) {
      if (this.#tokens.size <= this.#limits.mints && owners <= this.#limits.owners) {
        return
      }
      if (token !== latest && token.phase === "idle") {
        this.#tokens.delete(token.mint)
        owners -= token.table?.size ?? 0
      }
    }
  }
}

/** The time at the end of a read, and how long it took, in milliseconds. */
export interface ReadTimes {
  readonly nowMs: number
  readonly tookMs: number
}

const newToken = (mint: Mint, tokenProgram: TokenProgram): FollowedToken => ({
  mint,
  tokenProgram,
  table: null,
  readSlot: 0,
  readAtMs: 0,
  isWhole: false,
  phase: "idle",
  minSlot: 0,
  pending: [],
  refusal: null
})

/** False when an owner would hold less than nothing, because the accounts and the blocks do not fit. */
const apply = (table: HolderTable, list: string): boolean => {
  let fits = true
  readHoldings(list, (owner, delta) => {
    fits = table.add(owner, delta) && fits
  })
  return fits
}

import {
  type DeriveAddress,
  isUnpriceable,
  type Pool,
  type Program,
  type Unpriceable
} from "../../programs/interface/Program.ts"
import type { OnChainAccount } from "../../domain/OnChainAccount.ts"
import type { Address, Mint } from "../../domain/Address.ts"
import type { ChainEvent } from "../../chain/ChainFeed.ts"
import { sameAccount } from "../../chain/accounts/OpenWrites.ts"
import { AccountWatchSet, type WatchChanges } from "./AccountWatchSet.ts"
import { decodePool, type FoundPool, needsOf, NOT_READ, tradesOf } from "./foundPool.ts"
import { type Indexed, PairIndex, type View } from "./PairIndex.ts"
import type { MintPools } from "./MintPools.ts"

/** A pool account that its program cannot decode. */
export interface DecodeFault {
  readonly address: Address
  readonly dex: string
  readonly detail: string
}

/** A pool with the accounts that are held for it. */
export interface HeldPool {
  readonly program: Program
  readonly address: Address
  /** The mint that the address was derived from, as in `FoundPool`. */
  readonly foundBy: Mint | undefined
  /** Both mints of the pool. */
  readonly mints: readonly [Mint, Mint]
  /** Grows with each write to one of the accounts. */
  readonly version: number
  /** The pool and every account that its program needs. Null: the account does not exist. */
  readonly accounts: ReadonlyMap<Address, OnChainAccount | null>
  /** An account that has not been read yet; null when all have been. */
  readonly missing: Address | null
}

interface CachedPool extends FoundPool, Indexed {
  /** Mints whose search found the pool. The pool is dropped when the set is empty. */
  readonly wantedFor: Set<Mint>
  needs: ReadonlySet<Address>
  /** The pool account and the accounts that the needs were found from. Null when any write may change the needs. */
  basis: Map<Address, OnChainAccount | null | undefined> | null
  decoded: Pool | Unpriceable
  /** True while accounts have changed since the pool was decoded. */
  isStale: boolean
  /** True once a reader has seen what was decoded last. */
  isRead: boolean
  /** Null until the pool is first decoded. Until then the raw account narrows down what the pool may trade. */
  mints: readonly [Mint, Mint] | null
  version: number
  /** The accounts as `held` last gave them out. */
  held: HeldPool | null
}

interface WarmMint {
  entries: ReadonlyArray<CachedPool>
  /** True once every pool has been read and the list can be relied on. */
  ready: boolean
  /** True once a reader has used a loaded pair of the mint. */
  used: boolean
  lastUse: number
  /** How many pools the last search found that are not kept. */
  leftOut: number
  /**
   * Further pools that are not kept: pools that trades have named since, and pools of programs that could not be
   * searched.
   */
  readonly unlisted: Map<Address, Program>
  /** True when the last search failed for some program. */
  isPartial: boolean
}

/** The outcome of a search, apart from the kept pools. */
export interface SearchOutcome {
  /** Pools that were found and are not kept. */
  readonly leftOut: ReadonlyArray<FoundPool>
  /** Programs whose search was refused. */
  readonly unsearched: ReadonlySet<Program>
}

const WHOLE: SearchOutcome = { leftOut: [], unsearched: new Set() }

const NO_POOLS: MintPools = { pools: [], refused: [] }
const NOTHING: ReadonlySet<Address> = new Set()
/**
 * How many left-out pools of one mint are counted. There must be a limit, because anybody can create pools for a
 * mint.
 */
const MOST_UNLISTED = 5000
const UNUSED_SHARE = 8

/**
 * The pools in memory. One fiber writes, and every request reads synchronously. A changed pool is decoded by the next
 * read, or before it by `refreshNext` when what was decoded last has been read. So pools that nobody asks for cost little.
 */
export class PoolCache {
  readonly #derive: DeriveAddress
  readonly #watched = new AccountWatchSet<CachedPool>()
  readonly #entries = new Map<Address, CachedPool>()
  readonly #wanted = new Map<Mint, WarmMint>()
  readonly #dirty = new Set<CachedPool>()
  readonly #index = new PairIndex<CachedPool, MintPools>()
  /** Pools of executed programs, by mint. */
  readonly #executed = new Map<Mint, Set<CachedPool>>()
  #faults: Array<DecodeFault> = []
  #uses = 0

  constructor(derive: DeriveAddress) {
    this.#derive = derive
  }

  /** How many mints and pools are in memory. */
  get size(): { readonly mints: number; readonly pools: number } {
    return { mints: this.#wanted.size, pools: this.#entries.size }
  }

  /** Mints in memory, ready or not, least recently used first. */
  wanted(): ReadonlyArray<Mint> {
    return Array.from(this.#wanted)
      .toSorted(([, a], [, b]) => a.lastUse - b.lastUse)
      .map(([mint]) => mint)
  }

  /**
   * The mint to forget when there are more than `capacity`; otherwise undefined. Mints that were never used after
   * loading may take an eighth of the capacity. Beyond that, the oldest of them goes first, so that they cannot push
   * out mints in use.
   */
  evictable(capacity: number): Mint | undefined {
    if (this.#wanted.size <= capacity) {
      return undefined
    }
    const [newest] = this.wanted().slice(-1)
    const oldest = this.wanted().filter((mint) => mint !== newest)
    const unused = oldest.filter((mint) => this.#wanted.get(mint)?.used === false)
    return unused.length >= Math.max(1, Math.floor(capacity / UNUSED_SHARE))
      ? unused[0]
      : (oldest.find((mint) => !unused.includes(mint)) ?? oldest[0])
  }

  /** True when the mint has no pool: none was found, and no account exists at any address derived from the mint. */
  isEmpty(mint: Mint): boolean {
    const entries = this.#wanted.get(mint)?.entries ?? []
    return entries.every((entry) => {
      const decoded = this.#decoded(entry)
      return isUnpriceable(decoded) && decoded.reason === "closed"
    })
  }

  /** True once the pools of the mint have been read and may be quoted from. */
  isReady(mint: Mint): boolean {
    return this.#wanted.get(mint)?.ready === true
  }

  /** How many known pools of the mint are left out. */
  leftOut(mint: Mint): number {
    const wanted = this.#wanted.get(mint)
    return wanted === undefined ? 0 : wanted.leftOut + wanted.unlisted.size
  }

  /** True when the node refused some program in the mint's last search, so pools may be missing. */
  isPartial(mint: Mint): boolean {
    return this.#wanted.get(mint)?.isPartial === true
  }

  /** The pools of the mint as a search found them. */
  foundOf(mint: Mint): ReadonlyArray<FoundPool> {
    return this.#wanted.get(mint)?.entries ?? []
  }

  /** Replaces the mint's list of pools with the result of a search. */
  setPools(mint: Mint, found: ReadonlyArray<FoundPool>, { leftOut, unsearched }: SearchOutcome = WHOLE): void {
    const wanted = this.#wanted.get(mint) ?? {
      entries: [],
      ready: false,
      used: false,
      lastUse: ++this.#uses,
      leftOut: 0,
      unlisted: new Map(),
      isPartial: false
    }
    this.#wanted.set(mint, wanted)
    wanted.isPartial = unsearched.size > 0
    // The next search of a program finds its pools again. Pools of programs that were not searched are known only
    // here, so they stay.
    wanted.unlisted.forEach((program, pool) => !unsearched.has(program) && wanted.unlisted.delete(pool))
    found.forEach(({ address }) => wanted.unlisted.delete(address))
    const unlisted = leftOut.filter(({ program }) => unsearched.has(program))
    unlisted.forEach(({ address, program }) => noteUnlisted(wanted, address, program))
    wanted.leftOut = leftOut.length - unlisted.length
    const before = new Set(wanted.entries)
    wanted.entries = found.map((pool) => this.#entryOf(pool))
    for (const entry of wanted.entries) {
      before.delete(entry)
      entry.wantedFor.add(mint)
    }
    this.#release(mint, before)
  }

  /** True when the mint's pools have been read and this pool is not among them. */
  lacks(mint: Mint, pool: Address): boolean {
    return this.isReady(mint) && this.#entries.get(pool)?.wantedFor.has(mint) !== true
  }

  /**
   * Adds a pool to a mint. Returns false when the mint is not in memory, or has so many pools that this one is left
   * out.
   */
  addPool(mint: Mint, found: FoundPool, most: number): boolean {
    const wanted = this.#wanted.get(mint)
    if (wanted === undefined) {
      return false
    }
    if (wanted.entries.length >= most) {
      noteUnlisted(wanted, found.address, found.program)
      return false
    }
    const entry = this.#entryOf(found)
    if (!entry.wantedFor.has(mint)) {
      entry.wantedFor.add(mint)
      wanted.entries = [...wanted.entries, entry]
    }
    return true
  }

  /** Lets readers see the pools of the mint. */
  setReady(mint: Mint): void {
    const wanted = this.#wanted.get(mint)
    if (wanted !== undefined) {
      wanted.ready = true
    }
  }

  /** True when every pool of the mint can be priced or is refused for a lasting reason. */
  isSettled(mint: Mint): boolean {
    const entries = this.#wanted.get(mint)?.entries ?? []
    return entries.every((entry) => {
      if (this.#dirty.has(entry)) {
        return false
      }
      const decoded = this.#decoded(entry)
      return !isUnpriceable(decoded) || decoded.reason !== "incomplete"
    })
  }

  /** Drops the mint's pools, except those that other mints also need. */
  forget(mint: Mint): void {
    const entries = this.#wanted.get(mint)?.entries ?? []
    this.#wanted.delete(mint)
    this.#release(mint, entries)
  }

  /** Applies account writes. Cheap: pools are only marked as changed, not decoded. */
  apply(event: ChainEvent): void {
    const { accounts } = event._tag === "Writes" ? event : event.snapshot
    for (const [address, account] of accounts) {
      this.#write(address, account)
    }
  }

  /**
   * Finds the accounts that one changed pool needs now. Decodes it when what was decoded last has been read, when it could
   * not be priced, and the first time. Returns false when no changed pool is left.
   */
  refreshNext(): boolean {
    for (const entry of this.#dirty) {
      this.#retarget(entry)
      if (entry.isRead || entry.mints === null || isUnpriceable(entry.decoded)) {
        this.#decode(entry)
      }
      return true
    }
    return false
  }

  /** Accounts to watch and to stop watching since the last call. */
  takeChanges(): WatchChanges {
    return this.#watched.takeChanges()
  }

  /** Pools that turned out to be malformed since the last call. */
  takeFaults(): ReadonlyArray<DecodeFault> {
    const faults = this.#faults
    this.#faults = []
    return faults
  }

  /** Pools that trade both mints; null while the pools of neither mint are ready. */
  between(a: Mint, b: Mint): MintPools | null {
    const sides = [this.#wanted.get(a), this.#wanted.get(b)].filter((side) => side?.ready === true)
    for (const side of sides) {
      if (side !== undefined) {
        side.used = true
        side.lastUse = ++this.#uses
      }
    }
    return sides.length === 0 ? null : this.#read(a, b)
  }

  /** Mints that share a decoded pool with this one. */
  partnersOf(mint: Mint): Iterable<Mint> {
    return this.#index.partnersOf(mint)
  }

  /** Every pool in memory that trades both mints, whichever mint it was loaded for. */
  pairOf(a: Mint, b: Mint): MintPools {
    return this.#read(a, b)
  }

  /** Every pool in memory that trades the mint. */
  poolsOf(mint: Mint): MintPools {
    return this.#read(mint, null)
  }

  /** The pool at an address; null while it is not in memory or cannot be priced. */
  poolAt(address: Address): Pool | null {
    const entry = this.#entries.get(address)
    if (entry === undefined) {
      return null
    }
    const decoded = this.#decoded(entry)
    return isUnpriceable(decoded) ? null : decoded
  }

  /**
   * A pool with its accounts, whether or not it can be priced; null while it is not in memory or its mints are not
   * known. Returns the same object until one of the accounts changes.
   */
  held(address: Address): HeldPool | null {
    const entry = this.#entries.get(address)
    return entry === undefined ? null : this.#heldOf(entry)
  }

  /** Pools that trade the mint and are priced by executing their program. */
  executedOf(mint: Mint): ReadonlyArray<HeldPool> {
    const entries = this.#executed.get(mint)
    return entries === undefined
      ? []
      : [...entries].flatMap((entry) => {
          const held = this.#heldOf(entry)
          // A pool that is closed or was removed cannot be executed either.
          return held === null || !isUnpriceable(entry.decoded) || entry.decoded.reason !== "unsupported" ? [] : held
        })
  }

  #heldOf(entry: CachedPool): HeldPool | null {
    this.#decoded(entry)
    const { address, foundBy, mints, needs, program, version } = entry
    if (mints === null) {
      return null
    }
    if (entry.held?.version !== version || entry.held.missing !== null) {
      const read = Array.from(needs, (one) => [one, this.#watched.read(one)] as const)
      entry.held = {
        program,
        address,
        foundBy,
        mints,
        version,
        accounts: new Map(read.flatMap(([one, account]) => (account === undefined ? [] : [[one, account] as const]))),
        missing: read.find(([, account]) => account === undefined)?.[0] ?? null
      }
    }
    return entry.held
  }

  #indexExecuted(entry: CachedPool, [a, b]: readonly [Mint, Mint]): void {
    for (const mint of [a, b]) {
      const entries = this.#executed.get(mint) ?? new Set()
      this.#executed.set(mint, entries.add(entry))
    }
  }

  #unindexExecuted(entry: CachedPool): void {
    for (const mint of entry.mints ?? []) {
      const entries = this.#executed.get(mint)
      entries?.delete(entry)
      if (entries?.size === 0) {
        this.#executed.delete(mint)
      }
    }
  }

  #read(a: Mint, b: Mint | null): MintPools {
    const view = this.#index.view(a, b)
    if (view.value !== null) {
      return view.value
    }
    if (view.entries.size === 0) {
      return NO_POOLS
    }
    for (const entry of view.entries) {
      this.#decoded(entry)
    }
    // Decoding a pool for the first time may move it, within the view or out of it, or replace the view.
    return this.#index.view(a, b) === view ? assemble(view) : this.#read(a, b)
  }

  #entryOf(found: FoundPool): CachedPool {
    const known = this.#entries.get(found.address)
    if (known !== undefined) {
      return known
    }
    const entry: CachedPool = {
      ...found,
      wantedFor: new Set(),
      needs: NOTHING,
      basis: null,
      decoded: NOT_READ,
      isStale: true,
      isRead: false,
      mints: null,
      version: 0,
      held: null,
      ...tradesOf(found)
    }
    this.#entries.set(entry.address, entry)
    this.#index.add(entry)
    this.#dirty.add(entry)
    return entry
  }

  #release(mint: Mint, entries: Iterable<CachedPool>): void {
    for (const entry of entries) {
      entry.wantedFor.delete(mint)
      if (entry.wantedFor.size === 0) {
        this.#watched.retarget(entry, entry.needs, NOTHING)
        this.#dirty.delete(entry)
        this.#index.remove(entry)
        this.#unindexExecuted(entry)
        this.#entries.delete(entry.address)
      }
    }
  }

  #write(address: Address, account: OnChainAccount | null): void {
    for (const entry of this.#watched.write(address, account)) {
      entry.version++
      if (!entry.isStale) {
        entry.isStale = true
        this.#dirty.add(entry)
        this.#index.touch(entry)
      } else if (entry.basis === null || entry.basis.has(address)) {
        // Nobody has read the pool since an earlier write, so no view has its state. Its needs may have changed.
        this.#dirty.add(entry)
      }
    }
  }

  /** The pool as its newest accounts say, for a reader. */
  #decoded(entry: CachedPool): Pool | Unpriceable {
    if (this.#dirty.has(entry)) {
      this.#retarget(entry)
    }
    if (entry.isStale) {
      this.#decode(entry)
    }
    entry.isRead = true
    return entry.decoded
  }

  #retarget(entry: CachedPool): void {
    this.#dirty.delete(entry)
    if (this.#keepsNeeds(entry)) {
      return
    }
    const account = this.#watched.read(entry.address)
    const basis = new Map([[entry.address, account]])
    const read = (address: Address) => {
      const found = this.#watched.read(address)
      basis.set(address, found)
      return found
    }
    const needs = new Set([entry.address, ...needsOf(entry, account, read, this.#derive)])
    this.#watched.retarget(entry, entry.needs, needs)
    entry.needs = needs
    entry.basis = entry.program.keepsNeeds === undefined ? null : basis
  }

  /** True when the accounts that the needs were found from have not changed in a way that matters. */
  #keepsNeeds({ address: pool, basis, program }: CachedPool): boolean {
    if (basis === null) {
      return false
    }
    for (const [address, before] of basis) {
      const now = this.#watched.read(address)
      if (before !== now) {
        const isSame =
          before != null &&
          now != null &&
          (address === pool ? program.keepsNeeds?.(before, now) === true : sameAccount(before, now))
        if (!isSame) {
          return false
        }
        // Do not keep an old account in memory.
        basis.set(address, now)
      }
    }
    return true
  }

  #decode(entry: CachedPool): void {
    const before = entry.decoded
    entry.decoded = decodePool(entry, this.#watched.read(entry.address), this.#watched.read, this.#derive)
    entry.isStale = false
    entry.isRead = false
    if (isUnpriceable(entry.decoded)) {
      this.#reportMalformed(entry, before, entry.decoded)
    }
    const mints = mintsOf(entry.decoded)
    if (entry.mints === null && mints !== null) {
      entry.mints = mints
      this.#index.place(entry)
      if (entry.program.isExecuted === true) {
        this.#indexExecuted(entry, mints)
      }
    }
  }

  #reportMalformed({ address, program }: CachedPool, before: Pool | Unpriceable, now: Unpriceable): void {
    const known = isUnpriceable(before) && before.reason === "malformed"
    if (now.reason === "malformed" && !known) {
      this.#faults.push({ address, dex: program.dex, detail: now.detail })
    }
  }
}

const noteUnlisted = ({ unlisted }: WarmMint, pool: Address, program: Program): void => {
  if (unlisted.size < MOST_UNLISTED) {
    unlisted.set(pool, program)
  }
}

const mintsOf = (decoded: Pool | Unpriceable): readonly [Mint, Mint] | null =>
  isUnpriceable(decoded) ? (decoded.mints ?? null) : [decoded.mintA, decoded.mintB]

const assemble = (view: View<CachedPool, MintPools>): MintPools => {
  const pools: Array<Pool> = []
  const refused: Array<MintPools["refused"][number]> = []
  for (const { address, program, decoded } of view.entries) {
    if (isUnpriceable(decoded)) {
      refused.push({ address, dex: program.dex, ...decoded })
    } else {
      pools.push(decoded)
    }
  }
  view.value = { pools, refused }
  return view.value
}

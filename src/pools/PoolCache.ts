import { type DeriveAddress, isUnpriceable, type Pool, type Unpriceable } from "../programs/Program.ts"
import type { OnChainAccount } from "../domain/OnChainAccount.ts"
import type { Address, Mint } from "../domain/Address.ts"
import type { ChainEvent } from "../solana/accounts/ChainFeed.ts"
import { AccountWatchSet, type WatchChanges } from "./AccountWatchSet.ts"
import { decodePool, type FoundPool, mayTrade, needsOf, NOT_READ } from "./foundPool.ts"
import { type Indexed, PairIndex, type View } from "./PairIndex.ts"
import type { MintPools } from "./PoolBook.ts"

/** A program that failed on what an account holds. */
export interface DecodeFault {
  readonly address: Address
  readonly dex: string
  readonly detail: string
}

interface Entry extends FoundPool, Indexed {
  /** Mints whose discovery named it; dropped when none is left. */
  readonly wantedFor: Set<Mint>
  needs: ReadonlySet<Address>
  decoded: Pool | Unpriceable
  /** Known from the first decoding on; the account's bytes tell before. */
  mints: readonly [Mint, Mint] | null
}

interface Wanted {
  entries: ReadonlyArray<Entry>
  /** Whether readers may rely on it: its pools have been read once. */
  ready: boolean
  lastUse: number
}

const NOTHING: ReadonlySet<Address> = new Set()

/**
 * The pools in memory. Written by one fiber, read synchronously by every request: a pool that changed since it was
 * last decoded is decoded when somebody reads it, or when `refreshNext` comes to it, whichever is first.
 */
export class PoolCache {
  readonly #derive: DeriveAddress
  readonly #following = new AccountWatchSet<Entry>()
  readonly #entries = new Map<Address, Entry>()
  readonly #wanted = new Map<Mint, Wanted>()
  readonly #dirty = new Set<Entry>()
  readonly #index = new PairIndex<Entry, MintPools>()
  #faults: Array<DecodeFault> = []
  #uses = 0

  constructor(derive: DeriveAddress) {
    this.#derive = derive
  }

  /** Mints whose pools are kept, ready or not, the longest unused first. */
  wanted(): ReadonlyArray<Mint> {
    return Array.from(this.#wanted)
      .toSorted(([, a], [, b]) => a.lastUse - b.lastUse)
      .map(([mint]) => mint)
  }

  /** Whether the pools of the mint have been read and may be quoted from. */
  isReady(mint: Mint): boolean {
    return this.#wanted.get(mint)?.ready === true
  }

  /** Replaces what discovery knows of the mint's pools. */
  setPools(mint: Mint, found: ReadonlyArray<FoundPool>): void {
    const wanted = this.#wanted.get(mint) ?? { entries: [], ready: false, lastUse: ++this.#uses }
    this.#wanted.set(mint, wanted)
    const before = new Set(wanted.entries)
    wanted.entries = found.map((pool) => this.#entryOf(pool))
    for (const entry of wanted.entries) {
      before.delete(entry)
      entry.wantedFor.add(mint)
    }
    this.#release(mint, before)
  }

  /** From now on readers see the pools of the mint. */
  setReady(mint: Mint): void {
    const wanted = this.#wanted.get(mint)
    if (wanted !== undefined) {
      wanted.ready = true
    }
  }

  /** Whether every pool of the mint has been read as far as it can be priced or refused for good. */
  isSettled(mint: Mint): boolean {
    const entries = this.#wanted.get(mint)?.entries ?? []
    return entries.every(
      (entry) => !this.#dirty.has(entry) && (!isUnpriceable(entry.decoded) || entry.decoded.reason !== "incomplete")
    )
  }

  /** Lets go of the mint's pools. */
  forget(mint: Mint): void {
    const entries = this.#wanted.get(mint)?.entries ?? []
    this.#wanted.delete(mint)
    this.#release(mint, entries)
  }

  /** Takes what the chain said. Cheap: pools are only marked, not decoded. */
  apply(event: ChainEvent): void {
    const { accounts } = event._tag === "Writes" ? event : event.snapshot
    for (const [address, account] of accounts) {
      this.#write(address, account)
    }
  }

  /** Decodes one pool that changed; false when there is none left. */
  refreshNext(): boolean {
    for (const entry of this.#dirty) {
      this.#refresh(entry)
      return true
    }
    return false
  }

  /** Accounts to follow and to let go since the last call. */
  takeChanges(): WatchChanges {
    return this.#following.takeChanges()
  }

  /** Pools that their own program failed on since the last call. */
  takeFaults(): ReadonlyArray<DecodeFault> {
    const faults = this.#faults
    this.#faults = []
    return faults
  }

  /** Pools that trade both mints; null while neither side's pools are ready. */
  between(a: Mint, b: Mint): MintPools | null {
    const sides = [this.#wanted.get(a), this.#wanted.get(b)].filter((side) => side?.ready === true)
    for (const side of sides) {
      if (side !== undefined) {
        side.lastUse = ++this.#uses
      }
    }
    return sides.length === 0 ? null : this.#read(a, b)
  }

  /** Mints that share a decoded pool with this one. */
  partnersOf(mint: Mint): Iterable<Mint> {
    return this.#index.partnersOf(mint)
  }

  /** Every pool in memory that trades both mints, whoever asked for it. */
  pairOf(a: Mint, b: Mint): MintPools {
    return this.#read(a, b)
  }

  /** Every pool in memory that trades the mint. */
  poolsOf(mint: Mint): MintPools {
    return this.#read(mint, null)
  }

  #read(a: Mint, b: Mint | null): MintPools {
    const view = this.#index.view(a, b)
    if (view.value !== null) {
      return view.value
    }
    for (const entry of view.entries) {
      if (this.#dirty.has(entry)) {
        this.#refresh(entry)
      }
    }
    // A first decoding may have moved a pool to another pair.
    return this.#index.view(a, b) === view ? assemble(view) : this.#read(a, b)
  }

  #entryOf(found: FoundPool): Entry {
    const known = this.#entries.get(found.address)
    if (known !== undefined) {
      return known
    }
    const entry: Entry = {
      ...found,
      wantedFor: new Set(),
      needs: NOTHING,
      decoded: NOT_READ,
      mints: null,
      mayTrade: (a, b) => mayTrade(found, a, b)
    }
    this.#entries.set(entry.address, entry)
    this.#index.add(entry)
    this.#dirty.add(entry)
    return entry
  }

  #release(mint: Mint, entries: Iterable<Entry>): void {
    for (const entry of entries) {
      entry.wantedFor.delete(mint)
      if (entry.wantedFor.size === 0) {
        this.#following.retarget(entry, entry.needs, NOTHING)
        this.#dirty.delete(entry)
        this.#index.remove(entry)
        this.#entries.delete(entry.address)
      }
    }
  }

  #write(address: Address, account: OnChainAccount | null): void {
    for (const entry of this.#following.write(address, account)) {
      this.#dirty.add(entry)
      this.#index.touch(entry)
    }
  }

  #refresh(entry: Entry): void {
    this.#dirty.delete(entry)
    const before = entry.decoded
    const account = this.#following.read(entry.address)
    const needs = new Set([entry.address, ...needsOf(entry, account, this.#following.read, this.#derive)])
    this.#following.retarget(entry, entry.needs, needs)
    entry.needs = needs
    entry.decoded = decodePool(entry, account, this.#following.read, this.#derive)
    if (isUnpriceable(entry.decoded)) {
      this.#reportMalformed(entry, before, entry.decoded)
    } else if (entry.mints === null) {
      entry.mints = [entry.decoded.mintA, entry.decoded.mintB]
      this.#index.place(entry)
    }
  }

  #reportMalformed({ address, program }: Entry, before: Pool | Unpriceable, now: Unpriceable): void {
    const known = isUnpriceable(before) && before.reason === "malformed"
    if (now.reason === "malformed" && !known) {
      this.#faults.push({ address, dex: program.dex, detail: now.detail })
    }
  }
}

const assemble = (view: View<Entry, MintPools>): MintPools => {
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

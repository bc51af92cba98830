/** Figures of wallets by the chain: units of token accounts, and positions by raw blocks. */
import type { Book, RawPosition } from "../recompute/book.ts"
import { blocksOf, call, slotsBetween } from "../recompute/chain.ts"
import { listAccounts, type ListedAccount } from "../recompute/heldAccounts.ts"
import { bookOf, makeReading } from "../recompute/wallets.ts"

/** Units of each mint that a wallet holds, over all of its token accounts. */
export type HeldUnits = ReadonlyMap<string, bigint>

/** The token accounts of a wallet at the node, and their sums by mint. */
export const heldBy = async (
  rpc: string,
  wallet: string
): Promise<{ readonly listed: ReadonlyArray<ListedAccount>; readonly units: HeldUnits }> => {
  const listed = await listAccounts(rpc, wallet)
  const units = new Map<string, bigint>()
  for (const account of listed) {
    units.set(account.mint, (units.get(account.mint) ?? 0n) + account.units)
  }
  return { listed, units }
}

/** The newest slot of the node. */
export const newestSlot = async (rpc: string): Promise<number> =>
  Number(await call(rpc, "getSlot", [{ commitment: "confirmed" }]))

/** True where every unit held was bought at a known price, and every sale was of such units at one. */
export const isWhole = ({ holding, lots, realized }: RawPosition): boolean =>
  realized !== null && holding === lots.known

/** Slots of a check: the first that is read, and the newest when the service answered that it tracks the wallets. */
export interface CheckedSlots {
  readonly from: number
  readonly tracked: number
}

/** Reads the blocks from a slot on. Each wallet counts from its own second on. */
export class ChainFigures {
  readonly #rpc: string
  readonly #sinces: ReadonlyMap<string, number>
  /** A reading for each second. */
  readonly #readings: ReadonlyMap<number, ReturnType<typeof makeReading>>
  /** Transactions of each reading up to the slot at which the wallets were tracked. */
  readonly #untracked = new Map<number, number>()
  readonly #tracked: number
  #from: number

  constructor(rpc: string, sinces: ReadonlyMap<string, number>, { from, tracked }: CheckedSlots) {
    this.#rpc = rpc
    this.#sinces = sinces
    this.#readings = new Map(Array.from(sinces.values(), (sinceMs) => [sinceMs, makeReading()] as const))
    this.#from = from
    this.#tracked = tracked
  }

  /** Reads the blocks up to the newest. */
  async readOn(): Promise<void> {
    const to = await newestSlot(this.#rpc)
    for await (const block of blocksOf(this.#rpc, await slotsBetween(this.#rpc, this.#from, to))) {
      for (const [sinceMs, reading] of this.#readings) {
        if (block.blockTime * 1000 >= sinceMs) {
          reading.add(block)
          if (block.slot <= this.#tracked) {
            this.#untracked.set(sinceMs, reading.counts.transactions)
          }
        }
      }
    }
    this.#from = to + 1
  }

  /** Blocks, transfers of traded mints and events that name a part of the accounts, of all wallets of the chain. */
  counts() {
    const [oldest] = Array.from(this.#readings).toSorted(([a], [b]) => a - b)
    return oldest?.[1].counts ?? makeReading().counts
  }

  /**
   * Mints that a wallet sent or received before the service knew that it is tracked. Trades of that time are known to
   * the service, transfers are not.
   */
  unseenTransfers(wallet: string): ReadonlySet<string> {
    const sinceMs = this.#sinces.get(wallet) ?? 0
    const untracked = this.#untracked.get(sinceMs) ?? 0
    const events = this.#readings.get(sinceMs)?.events.get(wallet) ?? []
    return new Set(
      events.flatMap(({ mint, trades, transaction }) => (transaction < untracked && trades.length === 0 ? [mint] : []))
    )
  }

  /** The positions that a wallet traded since its second, from the blocks read. */
  bookOf(wallet: string, listed: ReadonlyArray<ListedAccount>): Book {
    const reading = this.#readings.get(this.#sinces.get(wallet) ?? 0)
    return reading === undefined ? new Map() : bookOf(reading, wallet, listed)
  }
}

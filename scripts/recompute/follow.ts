/** The record of a chain from a slot on, read as far as wanted. */
import { blocksOf, call, slotsBetween } from "./chain.ts"
import type { Recomputed } from "./compare.ts"
import { emptyRecord, makeReader, type TradeRecord } from "./record.ts"

/** A block that was read. */
interface Read {
  readonly slot: number
  readonly second: number
}

/** Swaps of SOL of so many seconds before it price a trade. */
const PRICED_SECONDS = 300

/** Most tries to find a block later than a second, and the wait between two. */
const TRIES = 60
const WAIT_MS = 500

/** The record up to and including a slot. */
const upTo = (record: TradeRecord, slot: number): TradeRecord => {
  const isIn = (each: { readonly slot: number }) => each.slot <= slot
  return {
    ...record,
    pools: record.pools.filter(isIn),
    wallets: record.wallets.filter(isIn),
    launches: record.launches.filter(isIn),
    supply: record.supply.filter(isIn)
  }
}

/** Follows the blocks of a node from a slot on. */
export const followChain = (rpc: string, first: number) => {
  const record = emptyRecord()
  const read = makeReader(record)
  const blocks: Array<Read> = []
  const state = { next: first, wholeFrom: Number.NaN, fromGenesis: false }
  const readOn = async (): Promise<void> => {
    const newest = (await call(rpc, "getSlot", [{ commitment: "confirmed" }])) as number
    for await (const block of blocksOf(rpc, await slotsBetween(rpc, state.next, newest))) {
      const last = blocks.at(-1)
      if (last === undefined || block.parentSlot !== last.slot) {
        // The blocks before this one were not read, and others may have its second.
        state.wholeFrom = block.blockTime + 1
        state.fromGenesis = last === undefined
      }
      read(block)
      blocks.push({ slot: block.slot, second: block.blockTime })
      state.next = block.slot + 1
    }
  }
  return {
    blocks,
    /** Reads up to the newest block. */
    readOn,
    /** Reads until a block is later than a second. */
    readPast: async (second: number): Promise<void> => {
      for (let tries = 0; tries < TRIES && (blocks.at(-1)?.second ?? 0) <= second; tries++) {
        await new Promise((resolve) => setTimeout(resolve, tries === 0 ? 0 : WAIT_MS))
        await readOn()
      }
    },
    /** The record as it was after a block, the newest unless given. */
    after: ({ second, slot }: Read = blocks.at(-1) ?? { slot: 0, second: 0 }, isWhole = false): Recomputed => ({
      record: upTo(record, slot),
      now: second,
      from: state.wholeFrom + (isWhole ? 0 : PRICED_SECONDS),
      isWhole: isWhole && state.fromGenesis
    })
  }
}

/** The record of a chain from a slot on, read as far as wanted. */
import { blocksOf, call, slotsBetween } from "./chain.ts"
import type { Recomputed } from "./compare.ts"
import { emptyRecord, makeReader, type TradeRecord } from "./record.ts"

/** A block that was read. */
export interface Block {
  readonly slot: number
  readonly second: number
}

/** Swaps of SOL of so many seconds before it price a trade. */
const PRICED_SECONDS = 300

/** Most tries to read a slot, and the wait between two. */
const TRIES = 300
const WAIT_MS = 100

/** The record up to and including a slot. */
const upTo = (record: TradeRecord, slot: number): TradeRecord => {
  const isIn = (each: { readonly slot: number }) => each.slot <= slot
  return {
    ...record,
    pools: record.pools.filter(isIn),
    wallets: record.wallets.filter(isIn),
    launches: record.launches.filter(isIn),
    supply: record.supply.filter(isIn),
    liquidity: record.liquidity.filter(isIn)
  }
}

/** Follows the blocks of a node from a slot on. */
export const followChain = (rpc: string, first: number) => {
  const record = emptyRecord()
  const read = makeReader(record)
  const blocks: Array<Block> = []
  const state = { next: first, read: 0, wholeFrom: Number.NaN, fromGenesis: false }
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
    state.read = newest
  }
  return {
    blocks,
    /** Reads up to the newest block. */
    readOn,
    /** Reads up to a slot, which the node may reach later; throws when it does not. */
    readTo: async (slot: number): Promise<void> => {
      for (let tries = 0; state.read < slot; tries++) {
        if (tries === TRIES) {
          throw new Error(`The node has not reached slot ${slot}.`)
        }
        await new Promise((resolve) => setTimeout(resolve, tries === 0 ? 0 : WAIT_MS))
        await readOn()
      }
    },
    /** The record as it was after a block, the newest unless given. */
    after: ({ second, slot }: Block = blocks.at(-1) ?? { slot: 0, second: 0 }, isWhole = false): Recomputed => ({
      record: upTo(record, slot),
      now: second,
      from: state.wholeFrom + (isWhole ? 0 : PRICED_SECONDS),
      isWhole: isWhole && state.fromGenesis
    })
  }
}

/** The blocks of a node, and the record of them. */
export type Chain = ReturnType<typeof followChain>

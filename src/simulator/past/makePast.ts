/**
 * Makes the past of a simulated chain and some minutes after it, and decodes the blocks, as a service would that read them
 * from the node.
 */
import { Result } from "effect"
import { decodeBlock } from "../../chain/decoding/decodeBlock.ts"
import { packBlock, type PackedBlock } from "../../chain/decoding/PackedTransactions.ts"
import type { Block } from "../chain/Bank.ts"
import { getBlock } from "../node/blockMethods.ts"
import { livePast } from "../traders/past.ts"
import { chainStart, makeChain, makeEmptyBank } from "../traders/startChain.ts"
import { makeSlots } from "../traders/slots.ts"
import type { Past, PastSettings } from "./pastFile.ts"
import { packChain, recordChain } from "./recordedChain.ts"

const BLOCK_OPTIONS = {
  encoding: "json",
  transactionDetails: "full",
  maxSupportedTransactionVersion: 0,
  rewards: false
}

/**
 * The same chain is made a second time for a start that is so much later. Neither 60,042 seconds nor their 150,105 slots
 * end in a zero byte.
 */
const TWIN_LATER_MS = 60_042_000

/**
 * Slots after the past that are recorded too: five minutes. A busy machine needs minutes to make the past again.
 */
const AHEAD_SLOTS = 750

/** Throws when a block cannot be decoded, or when more than slots, times and signatures depend on the start. */
export const makePast = (settings: PastSettings, liveUnixMs: number, ahead = AHEAD_SLOTS): Past => {
  const begin = (unixMs: number) => {
    const start = chainStart(settings.history, unixMs)
    const chain = makeChain({ ...settings, speed: 1 }, start)
    const pass = makeSlots(
      settings,
      () => chain,
      () => undefined
    )
    const firstHeight = makeEmptyBank({ ...settings, speed: 1 }, start).newest().height
    return { ...chain, firstHeight, live: start.live, pass, past: livePast(chain.bank, chain.market, start.live.slot) }
  }
  const twin = begin(liveUnixMs + TWIN_LATER_MS)
  for (const { slot } of twin.past) {
    twin.bank.forgetBefore(slot)
  }
  const chain = begin(liveUnixMs)
  const { bank, firstHeight, live } = chain
  const read = (slot: number): PackedBlock => {
    const block = decodeBlock(slot, JSON.parse(Result.getOrThrow(getBlock(bank, [slot, BLOCK_OPTIONS]))))
    if (block === null) {
      throw new Error(`block ${slot} of the simulated past cannot be decoded`)
    }
    bank.forgetBefore(slot)
    return packBlock(block).message
  }
  const blocks = [read(bank.newest().slot), ...chain.past.map(({ slot }) => read(slot))]
  const pass = (): Block | null => {
    const block = chain.pass()
    if (block !== null) {
      blocks.push(read(block.slot))
    }
    return block
  }
  const recorded = recordChain({ bank, firstHeight, live, pass }, twin, ahead)
  return { settings, live, blocks, chain: packChain(recorded) }
}

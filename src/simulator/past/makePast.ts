/** Makes the past of a simulated chain and decodes its blocks, as a service would that read them from the node. */
import { Result } from "effect"
import { decodeBlock } from "../../chain/decoding/decodeBlock.ts"
import { packBlock, type PackedBlock } from "../../chain/decoding/PackedTransactions.ts"
import { getBlock } from "../node/blockMethods.ts"
import { livePast } from "../traders/past.ts"
import { chainStart, makeChain } from "../traders/startChain.ts"
import type { Past, PastSettings } from "./pastFile.ts"

const BLOCK_OPTIONS = {
  encoding: "json",
  transactionDetails: "full",
  maxSupportedTransactionVersion: 0,
  rewards: false
}

/** Throws when a block cannot be decoded. */
export const makePast = (settings: PastSettings, liveUnixMs: number): Past => {
  const start = chainStart(settings.history, liveUnixMs)
  const { bank, market } = makeChain({ ...settings, speed: 1 }, start)
  const read = (slot: number): PackedBlock => {
    const block = decodeBlock(slot, JSON.parse(Result.getOrThrow(getBlock(bank, [slot, BLOCK_OPTIONS]))))
    if (block === null) {
      throw new Error(`block ${slot} of the simulated past cannot be decoded`)
    }
    bank.forgetBefore(slot)
    return packBlock(block).message
  }
  return {
    settings,
    live: start.live,
    blocks: [read(bank.newest().slot), ...livePast(bank, market, start.live.slot).map(({ slot }) => read(slot))]
  }
}

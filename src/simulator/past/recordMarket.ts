/** Writes a recording of a simulated market, without a node and without waiting. The same options give the same bytes. */
import { zstdCompressSync } from "node:zlib"
import { RecordWriter } from "../../chain/recording/RecordWriter.ts"
import type { Moment } from "../../chain/recording/recordEntry.ts"
import { makeDeriveAddress } from "../../chain/programAddress.ts"
import type { Address } from "../../domain/Address.ts"
import { followedPrograms } from "../../programs/registry.ts"
import { type Bank, makeBank, SLOT_MS } from "../chain/Bank.ts"
import { METAPLEX_PROGRAM } from "../chain/metadata.ts"
import { getBlock } from "../node/blockMethods.ts"
import { makeMarket } from "../traders/Market.ts"

/** What is recorded. */
export interface RecordedMarketOptions {
  /** The folder that the files are written to. It should be empty. */
  readonly folder: string
  /** The same seed gives the same market. */
  readonly seed: string
  /** How many slots are recorded. */
  readonly slots: number
  readonly swapsPerSecond: number
  /** When the first slot begins, in milliseconds since the Unix epoch. */
  readonly startUnixMs: number
}

const FIRST_SLOT = 500_000_000
/** A recording of a market has no bound: its length is chosen. */
const UNBOUNDED = { mostBytes: 2 ** 40, keptMs: 2 ** 40 }
const BLOCK = { encoding: "json", maxSupportedTransactionVersion: 0, rewards: false }

const derive = makeDeriveAddress()

/** The pools of the market with every account that prices them, and the metadata of mints. */
const followedOf = (bank: Bank): ReadonlySet<Address> => {
  const followed = new Set<Address>()
  const accounts = (address: Address) => bank.get(address) ?? null
  for (const program of followedPrograms) {
    for (const account of bank.ownedBy(program.programId)) {
      const needed = program.isPool(account) ? [account.address, ...program.needs(account, accounts, derive)] : []
      needed.forEach((address) => followed.add(address))
    }
  }
  for (const { address } of bank.ownedBy(METAPLEX_PROGRAM)) {
    followed.add(address)
  }
  return followed
}

/** Records the market. Returns its first and last slot. */
export const recordMarket = async ({
  folder,
  seed,
  slots,
  startUnixMs,
  swapsPerSecond
}: RecordedMarketOptions): Promise<{ readonly from: number; readonly to: number }> => {
  const bank = makeBank({ seed, startSlot: FIRST_SLOT, startUnixMs })
  const market = makeMarket({ seed, bank, swapsPerSecond })
  const writer = new RecordWriter({ folder, run: "simulated", bounds: UNBOUNDED })
  writer.setGenesis(`simulated ${seed}`)
  let from = 0
  let to = 0
  for (let at = 0; at < slots; at++) {
    const block = market.advance()
    const { parent, slot, unixTimestamp } = block
    const heardAtMs = startUnixMs + (slot - FIRST_SLOT) * SLOT_MS
    const moment: Moment = { slot, heardAtMs, state: "live", epoch: bank.clock().epoch, unixTimestamp }
    const followed = followedOf(bank)
    writer.watch(followed)
    const written = at === 0 ? Array.from(followed, (address) => bank.get(address)) : block.accounts
    const accounts = new Map(written.flatMap((each) => (each === undefined ? [] : [[each.address, each] as const])))
    writer.take({ _tag: "Writes", slot, accounts }, moment)
    const json = getBlock(bank, [slot, BLOCK])
    if (json._tag === "Success") {
      writer.takeBlock({
        slot,
        parentSlot: parent,
        blockTimeMs: unixTimestamp * 1000,
        blockTimeEstimated: false,
        heardAtMs: heardAtMs + SLOT_MS / 2,
        json: zstdCompressSync(json.success)
      })
    }
    from = at === 0 ? slot : from
    to = slot
    // A replay can begin at every slot.
    await writer.flush({ ...moment, heardAtMs: heardAtMs + SLOT_MS - 1 })
  }
  return { from, to }
}

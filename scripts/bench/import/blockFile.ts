/** A file of blocks of the simulator to import, in JSON or in Protobuf. A few blocks repeat, each with its own slot, parent and time. */
import { Result } from "effect"
import { once } from "node:events"
import { createWriteStream } from "node:fs"
import { constants, createZstdCompress } from "node:zlib"
import { makeBank } from "../../../src/simulator/chain/Bank.ts"
import { getBlock } from "../../../src/simulator/node/blockMethods.ts"
import { makeMarket } from "../../../src/simulator/traders/Market.ts"
import { bodyOf, headOf, infoOf } from "../../../test/chain/importing/protoFile.ts"

/** The forms of a file. Both are public: `getBlock` by line, and `SubscribeUpdateBlock` of the Geyser interface. */
export const forms = ["json", "protobuf"] as const

export type Form = (typeof forms)[number]

export const fileName: Readonly<Record<Form, string>> = { json: "blocks.ndjson.zst", protobuf: "blocks.pb.zst" }

/** Different blocks. They fit into the window of the compression, so that a repeated one is a reference. */
export const VARIETIES = 24
export const FIRST_SLOT = 300_000_000
const STARTED = 1_790_000_000
const SWAPS_PER_SECOND = 1300
/** Trades of a block, about: a swap is a trade of the pool and of the wallet, as one row or two. */
const TRADES_PER_BLOCK = 760
const SLOTS_PER_SECOND = 2.5

export const blocksFor = (trades: number): number => Math.ceil(trades / TRADES_PER_BLOCK)

/** The parts of a block that repeat: the text or the bytes of its transactions. */
interface Body {
  readonly bytes: Buffer
  readonly transactions: number
}

const bodies = (form: Form): ReadonlyArray<Body> => {
  const bank = makeBank({ seed: "import", startSlot: 1, startUnixMs: STARTED * 1000 })
  const market = makeMarket({ seed: "import", bank, swapsPerSecond: SWAPS_PER_SECOND })
  return Array.from({ length: VARIETIES }, () => {
    const { slot, transactions } = market.advance()
    if (form === "protobuf") {
      return { bytes: bodyOf(transactions.map(infoOf)), transactions: transactions.length }
    }
    const text = Result.getOrThrow(getBlock(bank, [slot, { maxSupportedTransactionVersion: 0, rewards: false }]))
    return { bytes: Buffer.from(text.slice(text.indexOf('"transactions":['))), transactions: transactions.length }
  })
}

/** The bytes of the block with this number. */
const blockBytes = (form: Form, n: number, { bytes, transactions }: Body): Buffer => {
  const [slot, blockTime] = [FIRST_SLOT + n, STARTED + Math.floor(n / SLOTS_PER_SECOND)]
  const [blockhash, parentBlockhash] = [`${slot}`, `${slot - 1}`]
  if (form === "protobuf") {
    const head = { slot, parentSlot: slot - 1, blockTime, blockhash, parentBlockhash, executed: transactions }
    return Buffer.concat([headOf(head, bytes.length), bytes])
  }
  const head = `"parentSlot":${slot - 1},"blockTime":${blockTime},"blockhash":"${blockhash}","previousBlockhash":"${parentBlockhash}"`
  return Buffer.concat([Buffer.from(`{"slot":${slot},"block":{${head},`), bytes, Buffer.from("}\n")])
}

/** Writes so many blocks. */
export const writeBlocks = async (path: string, form: Form, blocks: number): Promise<void> => {
  const ready = bodies(form)
  const params = {
    [constants.ZSTD_c_compressionLevel]: 1,
    [constants.ZSTD_c_windowLog]: 27,
    [constants.ZSTD_c_enableLongDistanceMatching]: 1
  }
  const packer = createZstdCompress({ params, chunkSize: 2 ** 20 })
  const file = createWriteStream(path)
  packer.pipe(file)
  for (let n = 0; n < blocks; n++) {
    const body = ready[n % VARIETIES]
    if (body !== undefined && !packer.write(blockBytes(form, n, body))) {
      await once(packer, "drain")
    }
  }
  packer.end()
  await once(file, "close")
}

if (import.meta.main) {
  const [path = "", form, trades] = process.argv.slice(2)
  await writeBlocks(path, forms.find((each) => each === form) ?? "protobuf", blocksFor(Number(trades)))
}

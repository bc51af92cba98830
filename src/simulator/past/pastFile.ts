/** The past of a simulated chain as bytes. The build makes it once, and a start moves it to its own time. */
import { deserialize, serialize } from "node:v8"
import { zstdCompressSync, zstdDecompress } from "node:zlib"
import type { PackedBlock } from "../../chain/decoding/PackedTransactions.ts"
import type { SlotTime } from "../traders/startChain.ts"

/** The settings that a past depends on. */
export interface PastSettings {
  readonly hardships: boolean
  /** Hours. */
  readonly history: number
  readonly retailWallets: number
  readonly seed: string
  readonly swapsPerSecond: number
  readonly pastSwapsPerSecond?: number | undefined
}

export interface Past {
  readonly settings: PastSettings
  /** The first slot after the past. */
  readonly live: SlotTime
  /** The decoded blocks of the past and of the recorded slots after it, oldest first. */
  readonly blocks: ReadonlyArray<PackedBlock>
  /** The chain after the past; see `unpackChain`. */
  readonly chain: Uint8Array
}

export const pastSettingsOf = ({
  hardships,
  history,
  pastSwapsPerSecond,
  retailWallets,
  seed,
  swapsPerSecond
}: PastSettings): PastSettings => ({
  hardships,
  history,
  pastSwapsPerSecond,
  retailWallets,
  seed,
  swapsPerSecond
})

/** Changes with everything that is written. A file of another format is not read. */
const FORMAT = 2

/** The first line of a file. It decides whether the rest is read. */
interface Head {
  readonly format: number
  readonly settings: PastSettings
  /** Bytes of the blocks, and of the chain that follows them. */
  readonly blocks: number
  readonly chain: number
}

export const writePast = ({ blocks, chain, live, settings }: Past): Uint8Array => {
  const packed = zstdCompressSync(serialize({ live, blocks }))
  const head: Head = { format: FORMAT, settings: pastSettingsOf(settings), blocks: packed.length, chain: chain.length }
  return Buffer.concat([Buffer.from(`${JSON.stringify(head)}\n`), packed, chain])
}

/** The past in a file; null when the file is for other settings. Rejects when it has another format or is not whole. */
export const readPast = async (bytes: Buffer, settings: PastSettings): Promise<Past | null> => {
  const begin = bytes.indexOf("\n") + 1
  const head: Head = JSON.parse(bytes.toString("utf8", 0, begin))
  if (head.format !== FORMAT) {
    throw new Error(`its format is ${head.format ?? "unknown"}, and this version reads format ${FORMAT}`)
  }
  if (JSON.stringify(head.settings) !== JSON.stringify(pastSettingsOf(settings))) {
    return null
  }
  const end = begin + head.blocks
  if (bytes.length !== end + head.chain) {
    throw new Error("it is not whole")
  }
  const content = await new Promise<Buffer>((resolve, reject) =>
    zstdDecompress(bytes.subarray(begin, end), (error, whole) => (error === null ? resolve(whole) : reject(error)))
  )
  const { blocks, live }: Pick<Past, "blocks" | "live"> = deserialize(content)
  return { settings, live, blocks, chain: bytes.subarray(end) }
}

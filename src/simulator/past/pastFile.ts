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
}

export interface Past {
  readonly settings: PastSettings
  /** The first slot after the past. */
  readonly live: SlotTime
  /** The decoded blocks, oldest first. */
  readonly blocks: ReadonlyArray<PackedBlock>
}

export const pastSettingsOf = ({
  hardships,
  history,
  retailWallets,
  seed,
  swapsPerSecond
}: PastSettings): PastSettings => ({
  hardships,
  history,
  retailWallets,
  seed,
  swapsPerSecond
})

/** The settings are the first line, so that a file for other settings is not read further. */
export const writePast = ({ settings, ...rest }: Past): Uint8Array =>
  Buffer.concat([Buffer.from(`${JSON.stringify(pastSettingsOf(settings))}\n`), zstdCompressSync(serialize(rest))])

/** The past in a file; null when the file is for other settings. Rejects when it is not whole. */
export const readPast = async (bytes: Buffer, settings: PastSettings): Promise<Past | null> => {
  const head = bytes.indexOf("\n")
  if (bytes.toString("utf8", 0, Math.max(0, head)) !== JSON.stringify(pastSettingsOf(settings))) {
    return null
  }
  const content = await new Promise<Buffer>((resolve, reject) =>
    zstdDecompress(bytes.subarray(head + 1), (error, whole) => (error === null ? resolve(whole) : reject(error)))
  )
  const rest: Omit<Past, "settings"> = deserialize(content)
  return { settings, ...rest }
}

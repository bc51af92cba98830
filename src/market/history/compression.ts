/**
 * Compresses parts of an image outside the event loop. Each part is a Zstandard frame with a checksum of its content.
 */
import { Effect } from "effect"
import { constants, zstdCompress, zstdDecompress } from "node:zlib"
import { PART_BYTES } from "../columnar/StateImage.ts"
import type { MarketLimits } from "../memory/MarketState.ts"

/** Version of the encoding. Raise it when an `image` method changes, or when cells get another layout or meaning. */
const VERSION = 5

const ORDER = new Uint8Array(Uint16Array.of(1).buffer)[0] === 1 ? "LE" : "BE"

/** Identifies what a process can read: the version of the encoding, the byte order and the limits of memory. */
export const layoutOf = ({ bars, tokens, traders }: MarketLimits): string =>
  [VERSION, ORDER, tokens, traders, bars].join(" ")

const CHUNK_BYTES = 2 ** 20

const called = (run: (done: (error: Error | null, bytes: Uint8Array) => void) => void) =>
  Effect.callback<Uint8Array, Error>((resume) =>
    run((error, bytes) => resume(error === null ? Effect.succeed(bytes) : Effect.fail(error)))
  )

/** Compresses a part for the store. */
export const compress = (part: Uint8Array): Effect.Effect<Uint8Array> =>
  Effect.orDie(
    called((done) =>
      zstdCompress(
        part,
        {
          chunkSize: CHUNK_BYTES,
          params: { [constants.ZSTD_c_compressionLevel]: 1, [constants.ZSTD_c_checksumFlag]: 1 }
        },
        done
      )
    )
  )

/** Decompresses a stored part. Fails when it is damaged. */
export const decompress = (part: Uint8Array): Effect.Effect<Uint8Array, Error> =>
  called((done) => zstdDecompress(part, { chunkSize: PART_BYTES + CHUNK_BYTES, maxOutputLength: PART_BYTES }, done))

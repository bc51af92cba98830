/** Chooses a content encoding (RFC 9110, 12.5.3), and compresses in Node's thread pool. */
import { Effect, Semaphore } from "effect"
import { brotliCompress, constants, gzip } from "node:zlib"

/** Encodings in order of preference among equal weights. */
const ENCODINGS = ["br", "gzip"] as const

export type Encoding = (typeof ENCODINGS)[number]

/** Bodies up to this many bytes are sent as they are. */
export const MOST_PLAIN_BYTES = 1024

/** Levels that cost about 10 ns a byte in the thread pool (`npm run bench:encoding`). */
const GZIP_LEVEL = 4
const BROTLI_QUALITY = 4

const MEMBER = /^(?<coding>[\w!#$%&'*+.^`|~-]+)(?:[ \t]*;[ \t]*q=(?<weight>0(?:\.\d{0,3})?|1(?:\.0{0,3})?))?$/iu
const COMPRESSIBLE = /^(?:text\/(?!event-stream)|application\/(?:[\w.-]+\+)?json\b|image\/svg\+xml)/u

/** True for the content types that are compressed: text and JSON, never an event stream. */
export const isCompressible = (contentType: string | undefined): boolean =>
  contentType !== undefined && COMPRESSIBLE.test(contentType)

const weightsOf = (header: string): ReadonlyMap<string, number> =>
  new Map(
    header.split(",").flatMap((part) => {
      const { coding, weight = "1" } = MEMBER.exec(part.trim())?.groups ?? {}
      return coding === undefined ? [] : [[coding.toLowerCase().replace(/^x-gzip$/u, "gzip"), Number(weight)] as const]
    })
  )

/**
 * The encoding with the greatest weight in `Accept-Encoding`; undefined when none is accepted or `identity` is
 * preferred. Malformed members are ignored.
 */
export const chosenEncoding = (header: string | undefined): Encoding | undefined => {
  if (header === undefined) {
    return undefined
  }
  const weights = weightsOf(header)
  const weightOf = (encoding: string) => weights.get(encoding) ?? weights.get("*") ?? 0
  const best = ENCODINGS.reduce((chosen, encoding) => (weightOf(encoding) > weightOf(chosen) ? encoding : chosen))
  return weightOf(best) > 0 && weightOf(best) >= (weights.get("identity") ?? 0) ? best : undefined
}

/** `Vary` with `Accept-Encoding` added. */
export const varyByEncoding = (vary: string | undefined): string =>
  vary === undefined ? "accept-encoding" : `${vary}, accept-encoding`

/**
 * Bodies that are compressed at a time. Each takes about a megabyte beside its body, and the thread pool runs no more
 * than four anyway.
 */
const turns = Semaphore.makeUnsafe(8)

const compress = (body: string | Uint8Array, encoding: Encoding): Effect.Effect<Uint8Array | null> =>
  Effect.callback<Uint8Array | null>((resume) => {
    const done = (error: Error | null, bytes: Uint8Array) => {
      resume(Effect.succeed(error === null && bytes.length < Buffer.byteLength(body) ? bytes : null))
    }
    if (encoding === "gzip") {
      gzip(body, { level: GZIP_LEVEL }, done)
    } else {
      const params = {
        [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY,
        [constants.BROTLI_PARAM_SIZE_HINT]: Buffer.byteLength(body)
      }
      brotliCompress(body, { params }, done)
    }
  })

/** The compressed body; null when it cannot be compressed or would not become shorter. */
export const compressed = (body: string | Uint8Array, encoding: Encoding): Effect.Effect<Uint8Array | null> =>
  turns.withPermits(1)(compress(body, encoding))

import { Effect, Result, Schema, Stream } from "effect"

/** A body that is too long or not UTF-8. `detail` says which. */
export class UnusableText extends Schema.TaggedError<UnusableText>()("UnusableText", {
  detail: Schema.String,
  /** True for a body that is longer than its reader allows. */
  isTooLarge: Schema.optionalKey(Schema.Boolean)
}) {}

const utf8 = new TextDecoder("utf-8", { fatal: true })

const joined = (chunks: ReadonlyArray<Uint8Array>, size: number): Result.Result<string, UnusableText> => {
  const whole = new Uint8Array(size)
  let at = 0
  for (const chunk of chunks) {
    whole.set(chunk, at)
    at += chunk.length
  }
  return Result.try({
    try: () => utf8.decode(whole),
    catch: () => new UnusableText({ detail: "an answer that is no text" })
  })
}

/** Passes on each chunk, at most `maxBytes` bytes in all. The HTTP client itself has no limit. */
export const forEachChunk = <E, R>(
  bytes: Stream.Stream<Uint8Array, E, R>,
  maxBytes: number,
  take: (chunk: Uint8Array) => Effect.Effect<void, UnusableText>
): Effect.Effect<void, E | UnusableText, R> =>
  Effect.suspend(() => {
    let size = 0
    return Stream.runForEach(bytes, (chunk) => {
      size += chunk.length
      return size > maxBytes
        ? Effect.fail(new UnusableText({ detail: `an answer of more than ${maxBytes} bytes`, isTooLarge: true }))
        : take(chunk)
    })
  })

/** Reads bytes as UTF-8 text, at most `maxBytes` of them. */
export const boundedText = <E, R>(
  bytes: Stream.Stream<Uint8Array, E, R>,
  maxBytes: number
): Effect.Effect<string, E | UnusableText, R> =>
  Effect.suspend(() => {
    const chunks: Array<Uint8Array> = []
    let size = 0
    const read = forEachChunk(bytes, maxBytes, (chunk) => {
      chunks.push(chunk)
      size += chunk.length
      return Effect.void
    })
    return Effect.flatMap(read, () => Effect.fromResult(joined(chunks, size)))
  })

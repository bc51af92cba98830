import { assert, describe, it } from "@effect/vitest"
import { Effect, Stream } from "effect"
import { boundedText } from "../../src/operations/boundedText.ts"

const bytes = (...texts: ReadonlyArray<string>) =>
  Stream.fromIterable(texts.map((text) => new TextEncoder().encode(text)))

describe("boundedText", () => {
  it.effect("joins the pieces, even when a character is split between two", () =>
    Effect.gen(function* () {
      const euro = new TextEncoder().encode("5 €")
      const split = Stream.fromIterable([euro.slice(0, 3), euro.slice(3)])
      assert.strictEqual(yield* boundedText(split, 5), "5 €")
      assert.strictEqual(yield* boundedText(bytes(), 0), "")
    })
  )

  it.effect("stops reading when the text is too long", () =>
    Effect.gen(function* () {
      let pulled = 0
      const endless = Stream.forever(bytes("0123456789")).pipe(Stream.tap(() => Effect.sync(() => void pulled++)))
      assert.deepInclude(yield* Effect.flip(boundedText(endless, 95)), { detail: "an answer of more than 95 bytes" })
      assert.isAtMost(pulled, 11)
      assert.strictEqual(yield* boundedText(bytes("12345", "67890"), 10), "1234567890")
    })
  )

  it.effect("refuses other encodings than UTF-8", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(boundedText(Stream.make(Uint8Array.of(0xff, 0xfe)), 10))
      assert.strictEqual(error.detail, "an answer that is no text")
    })
  )
})

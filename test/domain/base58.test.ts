import { assert, describe, it } from "@effect/vitest"
import bs58 from "bs58"
import { Effect, Schema } from "effect"
import { fromBase58, toBase58 } from "../../src/domain/base58.ts"

const Bytes = Schema.Array(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 255 })))

describe("base58", () => {
  it.effect.prop(
    "agrees with the bs58 package in both directions, zeros in front included",
    [Bytes, Bytes],
    ([list, tail]) =>
      Effect.sync(() => {
        const bytes = Uint8Array.from([...list.map(() => 0), ...tail])
        const text = bs58.encode(bytes)
        assert.strictEqual(toBase58(bytes), text)
        assert.deepStrictEqual(fromBase58(text), bytes)
        assert.deepStrictEqual(fromBase58(bs58.encode(Uint8Array.from(list))), Uint8Array.from(list))
      })
  )

  it("agrees with the bs58 package at every length up to 70, on the largest numbers too", () => {
    for (let length = 0; length <= 70; length++) {
      for (const step of [0, 1, 37, 255]) {
        const bytes = Uint8Array.from({ length }, (_, i) => (step === 255 ? 255 : (i * step) & 255))
        const text = bs58.encode(bytes)
        assert.strictEqual(toBase58(bytes), text)
        assert.deepStrictEqual(fromBase58(text), bytes)
      }
      assert.deepStrictEqual(fromBase58("z".repeat(length)), bs58.decode("z".repeat(length)))
    }
    assert.deepStrictEqual(fromBase58("z".repeat(90)), bs58.decode("z".repeat(90)))
  })

  it("agrees with the bs58 package on an event of 416 bytes", () => {
    const bytes = Uint8Array.from({ length: 416 }, (_, i) => (i * 37) & 255)
    const text = bs58.encode(bytes)
    assert.strictEqual(toBase58(bytes), text)
    assert.deepStrictEqual(fromBase58(text), bytes)
  })

  it("encodes a part of a larger buffer", () => {
    const bytes = Uint8Array.from({ length: 40 }, (_, i) => i + 1)
    assert.strictEqual(toBase58(bytes.subarray(3, 36)), bs58.encode(bytes.slice(3, 36)))
  })

  it("decodes other letters and more than 2,000 digits to null", () => {
    assert.isNull(fromBase58("abc0"))
    assert.isNull(fromBase58("ü"))
    assert.isNull(fromBase58("z".repeat(2001)))
  })
})

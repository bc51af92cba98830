import { assert, describe, it } from "@effect/vitest"
import { KeyTexts } from "../../../src/chain/decoding/KeyTexts.ts"
import { toBase58 } from "../../../src/domain/base58.ts"

/** The key of a number. Bytes that decide its place in a table are the same for `alike` keys. */
const keyOf = (n: number, alike = false): Uint8Array => {
  const key = new Uint8Array(32)
  const view = new DataView(key.buffer)
  view.setUint32(16, n)
  if (!alike) {
    view.setUint32(0, Math.imul(n, 0x9e3779b1))
  }
  return key
}

const encoder = new TextEncoder()

describe("texts of keys", () => {
  it("are base58, for more keys than are kept, found a second time as well", () => {
    const texts = new KeyTexts()
    for (const round of [1, 2]) {
      for (let n = 0; n < 80_000; n += round === 1 ? 1 : 997) {
        const text = texts.ofKey(keyOf(n), 0)
        if (n % 997 === 0) {
          assert.strictEqual(text, toBase58(keyOf(n)))
        }
      }
    }
  })

  it("are read at their place among other bytes", () => {
    const bytes = Buffer.concat([Buffer.alloc(3), keyOf(7), Buffer.alloc(9)])
    const text = toBase58(keyOf(7))
    assert.strictEqual(new KeyTexts().ofKey(bytes, 3), text)
    const spelled = Buffer.from(`ab${text}cd`)
    assert.strictEqual(new KeyTexts().ofText(spelled, 2, 2 + text.length), text)
  })

  it("tell texts apart that begin and end alike", () => {
    const texts = new KeyTexts()
    const ones = "1".repeat(32)
    for (const text of [ones, `${ones}1`, `${ones}11`, ones]) {
      assert.strictEqual(texts.ofText(encoder.encode(text), 0, text.length), text)
    }
  })

  it("stay right for keys that were chosen to share a place", () => {
    const texts = new KeyTexts()
    const keys = Array.from({ length: 500 }, (_, n) => keyOf(n, true))
    for (const key of [...keys, ...keys.toReversed()]) {
      assert.strictEqual(texts.ofKey(key, 0), toBase58(key))
    }
  })
})

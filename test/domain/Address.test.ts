import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { Address, addressFromBytes, addressToBytes, isAddress, SOL } from "../../src/domain/Address.ts"

describe("isAddress", () => {
  it("accepts what spells 32 bytes, however often it is asked", () => {
    assert.isTrue(isAddress(SOL))
    assert.isTrue(isAddress(SOL))
    assert.isTrue(isAddress("11111111111111111111111111111111"))
  })

  it.each([
    ["a character that base58 leaves out", `0${SOL.slice(1)}`],
    ["31 bytes", addressFromBytes(new Uint8Array(31).fill(255))],
    ["33 bytes", addressFromBytes(new Uint8Array(33).fill(1))],
    ["nothing", ""],
    ["a sentence", "So11111111111111111111111111111111111111112 "]
  ])("refuses %s", (_, text) => {
    assert.isFalse(isAddress(text))
  })
})

/** Bytes that differ where the hash does not look. */
const twin = (n: number) => Uint8Array.from({ length: 32 }, (_, i) => (i === 5 ? n : i))

describe("Address", () => {
  it("reads back the bytes it was made of", () => {
    const bytes = Uint8Array.from({ length: 32 }, (_, i) => 255 - i)
    assert.deepStrictEqual(addressToBytes(addressFromBytes(bytes)), bytes)
  })

  it("spells bytes that share a hash each in its own way, in any order", () => {
    const texts = [1, 2, 1, 2].map((n) => addressFromBytes(twin(n)))
    assert.strictEqual(texts[0], texts[2])
    assert.strictEqual(texts[1], texts[3])
    assert.notStrictEqual(texts[0], texts[1])
  })

  it("keeps a spelling when the bytes it was read from change", () => {
    const bytes = new Uint8Array(32).fill(9)
    const before = addressFromBytes(bytes)
    bytes[5] = 10
    assert.notStrictEqual(addressFromBytes(bytes), before)
    assert.strictEqual(addressFromBytes(new Uint8Array(32).fill(9)), before)
  })

  it("is refused by the schema unless it is 32 bytes of base58", () => {
    const decode = Schema.decodeUnknownOption(Address)
    assert.strictEqual(decode(SOL)._tag, "Some")
    assert.strictEqual(decode("z".repeat(44))._tag, "None")
  })
})

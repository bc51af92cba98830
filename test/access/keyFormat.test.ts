import { assert, describe, it } from "@effect/vitest"
import { Formatter, Redacted, Schema } from "effect"
import { inspect } from "node:util"
import {
  checksum,
  hashSecret,
  isWellFormed,
  makeId,
  makePepper,
  makeSecret,
  visibleParts
} from "../../src/access/keyFormat.ts"
import { randomBase62 } from "../../src/domain/randomText.ts"

const bytes = (...values: ReadonlyArray<number>) => {
  let next = 0
  return (size: number) => Uint8Array.from({ length: size }, () => values[next++ % values.length] ?? 0)
}
const seeded = (seed: number) => {
  let state = seed
  return (size: number) =>
    Uint8Array.from({ length: size }, () => (state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0) >>> 16)
}

describe("checksum", () => {
  it("is CRC-32 in base62: the check value of the CRC catalogue is cbf43926", () => {
    // 0xcbf43926 = 3421780262 = 3·62⁵ + 45·62⁴ + 35·62³ + 25·62² + 56·62 + 52... written with 0-9 A-Z a-z.
    const digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
    const value = Array.from(checksum("123456789")).reduce((sum, digit) => sum * 62 + digits.indexOf(digit), 0)
    assert.strictEqual(value, 0xcbf43926)
  })

  it("is zero padded to six characters", () => {
    assert.strictEqual(checksum(""), "000000")
  })
})

describe("makeSecret", () => {
  it("writes prefix, 30 random characters and the checksum of both", () => {
    const text = Redacted.value(makeSecret("live", bytes(0, 61, 62, 247)))
    assert.strictEqual(text.slice(0, 39), "svc_live_0z0z0z0z0z0z0z0z0z0z0z0z0z0z0z")
    assert.strictEqual(text.slice(39), checksum(text.slice(0, 39)))
    assert.strictEqual(text.length, 45)
  })

  it("marks a sandbox", () => {
    assert.match(Redacted.value(makeSecret("test", bytes(7))), /^svc_test_/)
  })

  it("draws again when a byte would favour the first characters", () => {
    assert.strictEqual(randomBase62(4, bytes(255, 1, 248, 2, 250, 3, 4)), "1234")
  })

  it("uses every character equally often", () => {
    const text = randomBase62(248 * 4, bytes(...Array.from({ length: 256 }, (_, i) => i)))
    const counts = Map.groupBy(text, (character) => character)
    assert.strictEqual(counts.size, 62)
    assert.deepStrictEqual(new Set(Array.from(counts.values(), (all) => all.length)), new Set([16]))
  })
})

describe("isWellFormed", () => {
  it.prop("accepts every key that is made", [Schema.Int, Schema.Literals(["live", "test"])], ([seed, environment]) =>
    isWellFormed(makeSecret(environment, seeded(seed)))
  )

  it.prop(
    "refuses a key with one character changed",
    [Schema.Int, Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 44 }))],
    ([seed, at]) => {
      const text = Redacted.value(makeSecret("live", seeded(seed)))
      const changed = text.slice(0, at) + (text[at] === "x" ? "y" : "x") + text.slice(at + 1)
      return !isWellFormed(Redacted.make(changed))
    }
  )

  it("refuses what only resembles a key", () => {
    const text = Redacted.value(makeSecret("live", seeded(1)))
    const body = (prefix: string) => prefix + text.slice(9, 39)
    for (const wrong of ["", text.slice(1), `${text} `, `${text}\n`, `${text}0`, text.toUpperCase(), "__proto__"]) {
      assert.isFalse(isWellFormed(Redacted.make(wrong)), wrong)
    }
    const foreign = body("svc_dead_")
    assert.isFalse(isWellFormed(Redacted.make(foreign + checksum(foreign))))
  })
})

describe("a secret", () => {
  const secret = makeSecret("live", seeded(2))
  const random = Redacted.value(secret).slice(9, 39)

  it("shows its prefix and its last four characters", () => {
    const text = Redacted.value(secret)
    assert.deepStrictEqual(visibleParts(secret), { prefix: "svc_live_", lastFour: text.slice(-4) })
  })

  it("never appears when it is printed", () => {
    for (const shown of [String(secret), JSON.stringify({ secret }), inspect(secret), Formatter.format({ secret })]) {
      assert.notInclude(shown, random)
    }
  })

  it("hashes differently under another pepper", () => {
    const [one, two] = [makePepper(seeded(3)), makePepper(seeded(4))]
    assert.strictEqual(hashSecret(one, secret), hashSecret(one, secret))
    assert.notStrictEqual(hashSecret(one, secret), hashSecret(two, secret))
    assert.match(hashSecret(one, secret), /^[0-9a-f]{64}$/)
  })

  it("has nothing in common with its key's id", () => {
    assert.match(makeId(seeded(5)), /^key_[0-9A-Za-z]{16}$/)
  })
})

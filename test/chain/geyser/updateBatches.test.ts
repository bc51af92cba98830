import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { readBatch, UpdateBatches } from "../../../src/chain/geyser/updateBatches.ts"

const MIB = 2 ** 20

const collecting = () => {
  const batches: Array<Uint8Array> = []
  const flow: Array<string> = []
  const joined = new UpdateBatches({
    send: (batch) => batches.push(batch),
    pause: () => flow.push("pause"),
    resume: () => flow.push("resume")
  })
  const messages = () => {
    const read: Array<Uint8Array> = []
    batches.forEach((batch) => readBatch(batch, (message) => read.push(Uint8Array.from(message))))
    return read
  }
  return { batches, flow, joined, messages }
}

describe("batches of updates", () => {
  it.prop(
    "have every message once and in order, whatever its length",
    [Schema.Array(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 40_000 })))],
    ([lengths]) => {
      const { joined, messages } = collecting()
      const given = lengths.map((length, n) => new Uint8Array(length).fill(n))
      given.forEach((message) => joined.add(message))
      joined.send()
      assert.deepStrictEqual(messages(), given)
    }
  )

  it.live("leave on their own once nothing more is to be read", () =>
    Effect.gen(function* () {
      const { batches, joined } = collecting()
      joined.add(new Uint8Array(10))
      joined.add(new Uint8Array(10))
      assert.strictEqual(batches.length, 0)
      yield* Effect.promise(() => new Promise((resume) => setImmediate(resume)))
      assert.strictEqual(batches.length, 1)
    })
  )

  it("are sent before they become large", () => {
    const { batches, joined } = collecting()
    Array.from({ length: 100 }, () => joined.add(new Uint8Array(1_000)))
    joined.send()
    assert.isTrue(batches.every(({ length }) => length < 17_500))
    assert.strictEqual(batches.length, 6)
  })

  it("pause the stream while 16 MiB are unread, and resume it at half as many", () => {
    const { batches, flow, joined } = collecting()
    Array.from({ length: 17 }, () => joined.add(new Uint8Array(MIB)))
    assert.deepStrictEqual(flow, ["pause"])
    const [each = 0] = batches.map(({ length }) => length)
    Array.from({ length: 8 }, () => joined.taken(each))
    assert.deepStrictEqual(flow, ["pause"])
    joined.taken(2 * each)
    assert.deepStrictEqual(flow, ["pause", "resume"])
  })
})

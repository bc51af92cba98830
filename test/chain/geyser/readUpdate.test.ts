import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import { readUpdate } from "../../../src/chain/geyser/readUpdate.ts"
import { MalformedMessage } from "../../../src/chain/geyser/wire.ts"
import { readEntry } from "../../../src/chain/decoding/transaction.ts"
import { readWireTransaction } from "../../../src/chain/decoding/wireTransaction.ts"
import { plainOf } from "../decoding/wireForm.ts"
import { bySchema, entryOf, expectedUpdate, randomUpdate, readAsPlain } from "./randomUpdates.ts"

const Seed = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 2 ** 31 }))
const surroundings = { slot: 7, blockTime: 1_790_000_000, indexInBlock: 3 }

/** The transaction of an update, read either way; null for other updates. */
const readBoth = (encoded: Buffer) => {
  const info = bySchema(encoded).transaction?.transaction
  const bytes = readUpdate(encoded).transaction?.info ?? null
  return info === undefined || info.isVote === true || bytes === null
    ? null
    : {
        schema: Result.map(readEntry(entryOf(info), surroundings), plainOf),
        wire: Result.map(readWireTransaction(bytes, surroundings), plainOf)
      }
}

const SAMPLES = 400

describe("the reader of a Geyser's updates", () => {
  it.prop(
    "reads every update as the schema's decoder does, and passes over unknown fields",
    [Seed],
    ([seed]) => {
      const encoded = randomUpdate(seed)
      assert.deepStrictEqual(readAsPlain(readUpdate(encoded)), expectedUpdate(bySchema(encoded)))
    },
    { arbitrary: { runs: SAMPLES } }
  )

  it("leaves out votes, also where a server sends them as transactions", () => {
    const kinds = new Set<string>()
    for (let seed = 0; seed < SAMPLES; seed++) {
      const encoded = randomUpdate(seed)
      const { transaction, transactionStatus } = bySchema(encoded)
      const isVote = transaction?.transaction?.isVote ?? transactionStatus !== undefined
      if (transaction !== undefined || transactionStatus !== undefined) {
        assert.strictEqual(readUpdate(encoded).transaction?.info === null, isVote)
        kinds.add(`${transaction !== undefined} ${isVote}`)
      }
    }
    assert.strictEqual(kinds.size, 3)
  })

  it("reads every transaction as from the answer of a node, with the same malformed parts", () => {
    const outcomes = new Map<string, number>()
    for (let seed = 0; seed < 4 * SAMPLES; seed++) {
      const both = readBoth(randomUpdate(seed))
      if (both !== null) {
        assert.deepStrictEqual(both.wire, both.schema)
        const outcome = Result.isSuccess(both.wire) ? "read" : both.wire.failure.detail
        outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1)
      }
    }
    // Every outcome was tried, most of them often.
    assert.sameMembers(Array.from(outcomes.keys()), [
      "read",
      "no meta",
      "message or signatures",
      "account keys",
      "fee or balances",
      "instructions",
      "token balances"
    ])
    assert.isAbove(outcomes.get("read") ?? 0, 100)
  })

  it.prop(
    "refuses messages that are cut off by name, wherever they are cut",
    [Seed],
    ([seed]) => {
      const encoded = randomUpdate(seed)
      const cut = encoded.subarray(0, Math.max(1, encoded.length - 1 - (seed % encoded.length)))
      try {
        readUpdate(cut)
      } catch (error) {
        assert.instanceOf(error, MalformedMessage)
        return
      }
      // Only a cut between two fields of the update leaves a whole message.
      assert.doesNotThrow(() => bySchema(Buffer.from(cut)))
    },
    { arbitrary: { runs: SAMPLES } }
  )

  it("refuses transactions whose inner messages are cut off by name", () => {
    let refused = 0
    for (let seed = 0; seed < SAMPLES; seed++) {
      const info = readUpdate(randomUpdate(seed)).transaction?.info ?? null
      const length = info?.length ?? 0
      for (let end = 1; end < length; end += 1 + (length >> 4)) {
        try {
          readWireTransaction((info ?? new Uint8Array(0)).subarray(0, end), surroundings)
        } catch (error) {
          assert.instanceOf(error, MalformedMessage)
          refused += 1
        }
      }
    }
    assert.isAbove(refused, SAMPLES)
  })

  it.each([
    ["a field without a number", [0, 1], "no field has the number 0"],
    ["groups, which have no length", [8 * 20 + 3 - 32, 1], "has a kind of value that is not used"],
    ["a number of more than ten bytes", [8 * 15, ...Array.from({ length: 11 }, () => 255)], "more than ten bytes"],
    ["a field that is longer than its message", [0x1a, 2, 0x08, 0x80, 0x01], "runs over the end"]
  ])("refuses %s", (_, bytes, detail) => {
    assert.throws(() => readUpdate(Uint8Array.from(bytes)), detail)
  })
})

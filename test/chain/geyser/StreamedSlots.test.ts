import { assert, describe, it } from "@effect/vitest"
import { StreamedSlots } from "../../../src/chain/geyser/StreamedSlots.ts"

describe("StreamedSlots", () => {
  it("marks slots as skipped once a later slot was built on an earlier one", () => {
    const buffer = new StreamedSlots<string>()
    buffer.begin(10)
    buffer.link(10, 9)
    assert.strictEqual(buffer.stateOf(11), "coming")
    buffer.link(13, 10)
    assert.deepStrictEqual(
      [11, 12, 13].map((slot) => buffer.stateOf(slot)),
      ["skipped", "skipped", "coming"]
    )
    assert.strictEqual(buffer.head, 13)
  })

  it("has nothing before the slot at which the stream began, except blocks of the previous stream", () => {
    const buffer = new StreamedSlots<string>()
    assert.strictEqual(buffer.stateOf(5), "absent")
    buffer.begin(5)
    buffer.put(6, "six")
    buffer.begin(20)
    assert.deepStrictEqual(
      [5, 6, 19, 20].map((slot) => buffer.stateOf(slot)),
      ["absent", "block", "absent", "coming"]
    )
    assert.strictEqual(buffer.take(6), "six")
    assert.strictEqual(buffer.stateOf(6), "absent")
  })

  it("waits for blocks of the previous stream that are still on their way", () => {
    const buffer = new StreamedSlots<string>()
    buffer.begin(5)
    buffer.begin(20, [7, 8])
    assert.deepStrictEqual(
      [6, 7, 8, 9].map((slot) => buffer.stateOf(slot)),
      ["absent", "coming", "coming", "absent"]
    )
    buffer.put(7, "seven")
    buffer.fail(8)
    assert.deepStrictEqual(
      [7, 8].map((slot) => buffer.stateOf(slot)),
      ["block", "absent"]
    )
    buffer.clear()
    assert.strictEqual(buffer.stateOf(7), "absent")
  })

  it("drops the parts of slots that are no longer wanted", () => {
    const buffer = new StreamedSlots<string>()
    buffer.begin(5)
    buffer.put(5, "five")
    buffer.forgetBefore(6)
    buffer.put(5, "five")
    assert.isUndefined(buffer.take(5))
  })

  it("covers the slots from its beginning to its head", () => {
    const buffer = new StreamedSlots<string>()
    buffer.begin(5)
    assert.isFalse(buffer.covers(5))
    buffer.link(8, 7)
    assert.deepStrictEqual(
      [4, 5, 8, 9].map((slot) => buffer.covers(slot)),
      [false, true, true, false]
    )
  })

  it("leaves a slot that cannot be decoded to a node", () => {
    const buffer = new StreamedSlots<string>()
    buffer.begin(5)
    buffer.fail(6)
    assert.strictEqual(buffer.stateOf(6), "absent")
  })
})

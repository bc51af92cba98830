import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { SlotAssembly, type SlotPart, type WholeSlot } from "../../../src/chain/geyser/SlotAssembly.ts"

const FIRST = 100

/** Some slots, and numbers that shuffle their parts, repeat them and leave some out. */
const Scene = Schema.Struct({
  /** For each slot the kinds of its transactions. True is a vote. */
  slots: Schema.Array(Schema.Array(Schema.Boolean).check(Schema.isMaxLength(6))).check(
    Schema.isMinLength(1),
    Schema.isMaxLength(8)
  ),
  order: Schema.Array(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 1_000 }))).check(
    Schema.isMinLength(1),
    Schema.isMaxLength(40)
  )
})

const partsOf = (kinds: ReadonlyArray<boolean>, slot: number): ReadonlyArray<SlotPart> => [
  ...kinds.map((isVote, index): SlotPart => ({ _tag: "transaction", slot, index, isVote })),
  { _tag: "head", head: { slot, parentSlot: slot - 1, blockTime: slot, executed: kinds.length, blockhash: "" } }
]

const allParts = ({ slots }: typeof Scene.Type) => slots.flatMap((kinds, place) => partsOf(kinds, FIRST + place))

/** The parts, in an order that the numbers decide. */
const shuffled = (parts: ReadonlyArray<SlotPart>, order: ReadonlyArray<number>): ReadonlyArray<SlotPart> =>
  parts
    .map((part, place) => [((order[place % order.length] ?? 0) * (place + 7)) % 101, place, part] as const)
    .toSorted(([a, c], [b, d]) => a - b || c - d)
    .map(([, , part]) => part)

const assembled = (assembly: SlotAssembly, parts: ReadonlyArray<SlotPart>): ReadonlyArray<WholeSlot> =>
  parts.map((part) => assembly.add(part)).filter((whole) => whole !== null)

const expected = ({ slots }: typeof Scene.Type) =>
  slots.map((kinds) => kinds.flatMap((isVote, index) => (isVote ? [] : [index])))

const isSame = (whole: ReadonlyArray<WholeSlot>, scene: typeof Scene.Type) => {
  const sorted = whole.toSorted((a, b) => a.head.slot - b.head.slot)
  assert.deepStrictEqual(
    sorted.map(({ head }) => head.slot),
    scene.slots.map((_, place) => FIRST + place)
  )
  assert.deepStrictEqual(
    sorted.map(({ indexes }) => indexes),
    expected(scene)
  )
}

describe("SlotAssembly", () => {
  it.prop("returns every slot once, in whatever order its parts arrive and however often", [Scene], ([scene]) => {
    const parts = shuffled(allParts(scene), scene.order)
    isSame(assembled(new SlotAssembly(), [...parts, ...parts.toReversed(), ...parts]), scene)
  })

  it.prop("returns a slot only once its last part has arrived", [Scene], ([scene]) => {
    const parts = shuffled(partsOf(scene.slots[0] ?? [], FIRST), scene.order)
    const assembly = new SlotAssembly()
    parts.forEach((part, place) => assert.strictEqual(assembly.add(part) !== null, place === parts.length - 1))
  })

  it.prop("keeps a slot open that lacks its head or a transaction, and resumes there", [Scene], ([scene]) => {
    const missing = (scene.order[0] ?? 0) % allParts(scene).length
    const lost = allParts(scene)[missing]
    const slot = lost === undefined ? 0 : lost._tag === "head" ? lost.head.slot : lost.slot
    const assembly = new SlotAssembly()
    const whole = assembled(
      assembly,
      allParts(scene).filter((_, place) => place !== missing)
    )
    assert.isFalse(whole.some(({ head }) => head.slot === slot))
    // A slot without any part is not known to be open.
    if ((scene.slots[slot - FIRST]?.length ?? 0) > 0) {
      assert.strictEqual(assembly.resumeAt, slot)
    }
    isSame([...whole, ...assembled(assembly, allParts(scene))], scene)
    assert.strictEqual(assembly.resumeAt, FIRST + scene.slots.length)
  })

  it.prop("returns nothing of slots that are no longer wanted", [Scene], ([scene]) => {
    const assembly = new SlotAssembly()
    const parts = allParts(scene)
    const half = assembled(assembly, parts.slice(0, parts.length >> 1))
    assembly.forgetBefore(FIRST + scene.slots.length)
    assert.deepStrictEqual(assembled(assembly, [...parts, ...parts]), [])
    assert.strictEqual(assembly.kept, 0)
    assert.isAtMost(half.length, scene.slots.length)
  })

  it("does not count a slot as whole when a transaction has a wrong place", () => {
    const assembly = new SlotAssembly()
    assembly.add({ _tag: "transaction", slot: 7, index: 3, isVote: false })
    const head = { slot: 7, parentSlot: 6, blockTime: null, executed: 1, blockhash: "" }
    assert.isNull(assembly.add({ _tag: "head", head }))
  })

  it("keeps a bounded number of open slots", () => {
    const assembly = new SlotAssembly()
    for (let slot = 1; slot <= 2_000; slot++) {
      assembly.add({ _tag: "transaction", slot, index: 0, isVote: false })
    }
    assert.strictEqual(assembly.resumeAt, 2_000 - 255)
  })
})

import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import type { Address } from "../../../src/domain/Address.ts"
import type { AccountState } from "../../../src/chain/AccountState.ts"
import type { ChainEvent } from "../../../src/chain/ChainFeed.ts"
import { AccountBuffer } from "../../../src/chain/accounts/AccountBuffer.ts"
import { at, holding, Reader } from "./accounts.ts"

const A = at(1)
const B = at(2)
const C = at(3)

const state = (address: Address, slot: number, bytes: ReadonlyArray<number>): AccountState => ({
  slot,
  account: holding(address, bytes, slot)
})

const none = (slot: number): AccountState => ({ slot, account: null })

/** A buffer whose reader has received the state of these accounts at slot 10. */
const following = (...addresses: ReadonlyArray<Address>) => {
  const buffer = new AccountBuffer(() => false)
  addresses.forEach((address) => buffer.follow(address))
  buffer.answer(buffer.unread(), new Map(addresses.map((address) => [address, state(address, 10, [0])])))
  buffer.end(10)
  return buffer
}

/** Events as text: the kind, the slot, and the state of each account. */
const emitted = (events: ReadonlyArray<ChainEvent>) =>
  events.map((event) => {
    const { accounts, slot } = event._tag === "Writes" ? event : event.snapshot
    const scripted = Array.from(accounts, ([address, account]) => [address, account === null ? null : account.data[0]])
    return [event._tag, slot, Object.fromEntries(scripted)]
  })

describe("writes", () => {
  it("of one slot are emitted together once the slot has ended", () => {
    const buffer = following(A, B)
    buffer.write(A, state(A, 11, [1]))
    buffer.write(B, state(B, 11, [2]))

    assert.deepStrictEqual(emitted(buffer.end(10)), [])
    assert.deepStrictEqual(emitted(buffer.end(11)), [["Writes", 11, { [A]: 1, [B]: 2 }]])
    assert.deepStrictEqual(emitted(buffer.end(11)), [])
  })

  it("are emitted in order of slot, in whatever order they arrived", () => {
    const buffer = following(A, B)
    buffer.write(B, state(B, 12, [2]))
    buffer.write(A, state(A, 11, [1]))

    assert.deepStrictEqual(emitted(buffer.end(Infinity)), [
      ["Writes", 11, { [A]: 1 }],
      ["Writes", 12, { [B]: 2 }]
    ])
  })

  it("of one slot from two streams count in order of receipt, whatever their versions", () => {
    const buffer = following(A, B)
    const write = (address: Address, stream: number, writeVersion: number, byte: number) =>
      buffer.write(address, { ...state(address, 11, [byte]), stream, writeVersion })
    write(A, 1, 900, 1)
    write(B, 1, 901, 2)
    assert.deepStrictEqual(emitted(buffer.end(11)), [["Writes", 11, { [A]: 1, [B]: 2 }]])
    // The next endpoint repeats the slot and has a later write.
    buffer.resume()
    write(A, 2, 3, 9)
    write(A, 2, 5, 3)
    assert.strictEqual(write(A, 2, 4, 8), "older")
    write(B, 2, 6, 2)
    assert.deepStrictEqual(emitted(buffer.end(11)), [["Writes", 11, { [A]: 3 }]])
    // From now on the versions of the second stream count.
    assert.strictEqual(write(B, 2, 5, 7), "older")
  })

  it("of one slot count by their version, whatever arrives in between and after", () => {
    const buffer = following(A)
    const version = (writeVersion: number, byte: number): AccountState => ({ ...state(A, 11, [byte]), writeVersion })
    buffer.write(A, version(3, 3))
    assert.strictEqual(buffer.write(A, version(2, 2)), "older")
    assert.deepStrictEqual(emitted(buffer.end(11)), [["Writes", 11, { [A]: 3 }]])
    assert.strictEqual(buffer.write(A, version(2, 2)), "older")
    // The write restores the old state. The write in between is older than it.
    assert.strictEqual(buffer.write(A, version(5, 3)), "kept")
    buffer.end(11)
    assert.strictEqual(buffer.write(A, version(4, 4)), "older")
    assert.strictEqual(buffer.state(A)?.account?.data[0], 3)
  })

  it("with a version are never newer than a read of their slot, which has the end of the slot", () => {
    const buffer = following(A)
    assert.strictEqual(buffer.write(A, { ...state(A, 10, [9]), writeVersion: 1 }), "older")
    buffer.doubt(A, { missed: true })
    buffer.write(A, { ...state(A, 11, [1]), writeVersion: 7 })
    buffer.end(11)
    buffer.answer(buffer.unread(), new Map([[A, state(A, 11, [2])]]))
    buffer.end(11)
    assert.strictEqual(buffer.state(A)?.account?.data[0], 2)
  })

  it("report that an account has ceased to exist", () => {
    const buffer = following(A)
    buffer.write(A, none(11))

    assert.deepStrictEqual(emitted(buffer.end(11)), [["Writes", 11, { [A]: null }]])
  })

  it("are dropped when they are older than the emitted state, and leave the account as it is", () => {
    const buffer = following(A)
    buffer.write(A, state(A, 12, [2]))
    buffer.end(12)

    assert.strictEqual(buffer.write(A, state(A, 11, [1])), "older")
    assert.deepStrictEqual(emitted(buffer.end(Infinity)), [])
  })

  it("are dropped when they repeat the emitted state", () => {
    const buffer = following(A)
    buffer.write(A, state(A, 11, [1]))
    buffer.end(11)

    assert.strictEqual(buffer.write(A, state(A, 11, [1])), "repeated")
    assert.deepStrictEqual(emitted(buffer.end(Infinity)), [])
  })

  it("of one slot that differ count in order of receipt", () => {
    const buffer = following(A)
    buffer.write(A, state(A, 11, [1]))
    buffer.write(A, state(A, 11, [2]))
    assert.deepStrictEqual(emitted(buffer.end(11)), [["Writes", 11, { [A]: 2 }]])

    buffer.write(A, state(A, 11, [3]))
    assert.deepStrictEqual(emitted(buffer.end(11)), [["Writes", 11, { [A]: 3 }]])
  })

  it("of accounts that are not followed are dropped", () => {
    const buffer = following(A)
    buffer.forget(A)

    assert.strictEqual(buffer.write(A, state(A, 11, [1])), "unknown")
    assert.deepStrictEqual(emitted(buffer.end(Infinity)), [])
    assert.strictEqual(buffer.size, 0)
  })

  it("of accounts that are unwatched while they wait are not emitted", () => {
    const buffer = following(A, B)
    buffer.write(A, state(A, 11, [1]))
    buffer.write(B, state(B, 11, [1]))
    buffer.forget(A)

    assert.deepStrictEqual(emitted(buffer.end(11)), [["Writes", 11, { [B]: 1 }]])
  })

  it("of private accounts are kept but not emitted", () => {
    const buffer = new AccountBuffer((address) => address === A)
    buffer.follow(A)
    buffer.answer(buffer.unread(), new Map([[A, state(A, 10, [0])]]))
    assert.deepStrictEqual(emitted(buffer.end(10)), [])

    buffer.write(A, state(A, 11, [1]))
    assert.deepStrictEqual(emitted(buffer.end(11)), [])
    assert.deepStrictEqual(buffer.state(A), state(A, 11, [1]))
  })
})

describe("a snapshot", () => {
  it("waits until the newest slot of its answers has ended, and includes every write of that slot", () => {
    const buffer = new AccountBuffer(() => false)
    buffer.follow(A)
    buffer.follow(B)
    buffer.answer(
      buffer.unread(),
      new Map([
        [A, state(A, 10, [0])],
        [B, state(B, 12, [0])]
      ])
    )
    buffer.write(A, state(A, 11, [1]))
    assert.deepStrictEqual(emitted(buffer.end(11)), [])

    buffer.write(A, state(A, 12, [2]))
    buffer.write(A, state(A, 13, [3]))
    assert.deepStrictEqual(emitted(buffer.end(12)), [["Snapshot", 12, { [A]: 2, [B]: 0 }]])
    assert.deepStrictEqual(emitted(buffer.end(13)), [["Writes", 13, { [A]: 3 }]])
  })

  it("replaces writes that arrived before it", () => {
    const buffer = new AccountBuffer(() => false)
    buffer.follow(A)
    buffer.write(A, state(A, 9, [9]))
    assert.deepStrictEqual(emitted(buffer.end(9)), [])

    buffer.answer(buffer.unread(), new Map([[A, state(A, 10, [0])]]))
    assert.deepStrictEqual(emitted(buffer.end(10)), [["Snapshot", 10, { [A]: 0 }]])
  })

  it("is not older than a write that arrived before its answer", () => {
    const buffer = new AccountBuffer(() => false)
    buffer.follow(A)
    buffer.write(A, state(A, 12, [2]))
    buffer.end(12)

    buffer.answer(buffer.unread(), new Map([[A, state(A, 10, [0])]]))
    assert.deepStrictEqual(emitted(buffer.end(Infinity)), [["Snapshot", 12, { [A]: 2 }]])
  })

  it("leaves out accounts that were unwatched in the meantime", () => {
    const buffer = new AccountBuffer(() => false)
    buffer.follow(A)
    buffer.follow(B)
    const asked = buffer.unread()
    buffer.forget(A)
    buffer.answer(asked, new Map([A, B].map((address) => [address, state(address, 10, [0])])))

    assert.deepStrictEqual(emitted(buffer.end(10)), [["Snapshot", 10, { [B]: 0 }]])
  })

  it("leaves accounts unread that are missing from the answer", () => {
    const buffer = new AccountBuffer(() => false)
    buffer.follow(A)
    buffer.follow(B)
    buffer.answer(buffer.unread(), new Map([[A, none(10)]]))

    assert.deepStrictEqual(emitted(buffer.end(10)), [["Snapshot", 10, { [A]: null }]])
    assert.deepStrictEqual(Array.from(buffer.unread().keys()), [B])
  })

  it("of everything has the newest emitted state of every account", () => {
    const buffer = following(A, B)
    buffer.write(A, state(A, 11, [1]))
    buffer.end(11)
    buffer.write(A, state(A, 12, [2]))

    assert.deepStrictEqual(emitted([{ _tag: "Snapshot", snapshot: buffer.everything() }]), [
      ["Snapshot", 11, { [A]: 1, [B]: 0 }]
    ])
  })
})

describe("after a gap", () => {
  it("nothing is emitted until everything has been read again, and then all of it at once", () => {
    const buffer = following(A, B)
    buffer.doubtAll()
    assert.isTrue(buffer.isBehind)
    buffer.write(A, state(A, 20, [2]))
    assert.deepStrictEqual(emitted(buffer.end(Infinity)), [])

    buffer.answer(buffer.unread(), new Map([A, B].map((address) => [address, state(address, 19, [1])])))
    assert.isTrue(buffer.isBehind)
    assert.deepStrictEqual(emitted(buffer.end(Infinity)), [["Snapshot", 20, { [A]: 2, [B]: 1 }]])
    assert.isFalse(buffer.isBehind)
  })

  it("answers from before the gap do not count", () => {
    const buffer = following(A)
    buffer.doubt(A, { missed: true })
    const asked = buffer.unread()
    buffer.answer(asked, new Map([[A, state(A, 11, [1])]]))
    buffer.doubtAll()

    assert.deepStrictEqual(emitted(buffer.end(Infinity)), [])
    buffer.answer(asked, new Map([[A, state(A, 11, [1])]]))
    assert.deepStrictEqual(emitted(buffer.end(Infinity)), [])
    assert.deepStrictEqual(Array.from(buffer.unread().keys()), [A])
  })

  it("a state older than the emitted one is dropped", () => {
    const buffer = following(A)
    buffer.write(A, state(A, 15, [5]))
    buffer.end(15)
    buffer.doubtAll()
    buffer.answer(buffer.unread(), new Map([[A, state(A, 12, [2])]]))

    assert.deepStrictEqual(emitted(buffer.end(Infinity)), [["Snapshot", 15, { [A]: 5 }]])
  })

  it("an account that was never emitted does not keep the reader behind", () => {
    const buffer = new AccountBuffer(() => false)
    buffer.follow(C)
    buffer.doubt(C, { missed: true })
    buffer.doubtAll()

    assert.isFalse(buffer.isBehind)
    assert.deepStrictEqual(Array.from(buffer.unread().keys()), [C])
  })
})

const Step = Schema.Struct({
  account: Schema.Literals([0, 1, 2]),
  step: Schema.Literals(["write", "write", "write", "twice", "late", "read", "end", "gap"])
})

describe("any order of events", () => {
  it.prop(
    "ends with the reader at every account's newest state, and never takes an account back in time",
    [Schema.Array(Step)],
    ([steps]) => {
      const addresses = [A, B, C]
      const chain = new Map(addresses.map((address) => [address, state(address, 0, [0])]))
      const held: Array<[Address, AccountState]> = []
      const buffer = new AccountBuffer(() => false)
      const reader = new Reader()
      addresses.forEach((address) => buffer.follow(address))

      const tell = (events: ReadonlyArray<ChainEvent>) => {
        for (const event of events) {
          const { accounts } = event._tag === "Writes" ? event : event.snapshot
          for (const [address, account] of accounts) {
            assert.isAtLeast(account?.slot ?? 0, reader.known.get(address)?.slot ?? 0)
          }
          reader.take(event)
        }
      }
      const read = () => buffer.answer(buffer.unread(), new Map(chain))

      steps.forEach(({ account, step }, index) => {
        const address = addresses[account] ?? A
        const next = state(address, index + 1, [index % 256])
        switch (step) {
          case "read":
            return read()
          case "end":
            return tell(buffer.end(index))
          case "gap":
            held.length = 0
            return buffer.doubtAll()
          case "late":
            chain.set(address, next)
            return void held.push([address, next])
          default:
            chain.set(address, next)
            buffer.write(address, next)
            return step === "twice" ? void buffer.write(address, next) : undefined
        }
      })
      held.forEach(([address, late]) => buffer.write(address, late))
      read()
      tell(buffer.end(Infinity))

      assert.strictEqual(buffer.unread().size, 0)
      assert.isFalse(buffer.isBehind)
      for (const [address, { account }] of chain) {
        assert.deepStrictEqual(reader.known.get(address), account)
      }
    }
  )
})

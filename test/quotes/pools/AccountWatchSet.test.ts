import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import type { Address } from "../../../src/domain/Address.ts"
import { AccountWatchSet } from "../../../src/quotes/pools/AccountWatchSet.ts"
import { at, vault } from "../toyChain.ts"

const set = (...addresses: ReadonlyArray<Address>) => new Set(addresses)

describe("AccountWatchSet", () => {
  it("returns each change once", () => {
    const following = new AccountWatchSet<string>()
    following.retarget("pool", set(), set(at(1), at(2)))
    assert.deepStrictEqual(following.takeChanges(), { watch: [at(1), at(2)], unwatch: [] })
    assert.deepStrictEqual(following.takeChanges(), { watch: [], unwatch: [] })
    following.retarget("pool", set(at(1), at(2)), set(at(2)))
    assert.deepStrictEqual(following.takeChanges(), { watch: [], unwatch: [at(1)] })
  })

  it("keeps the state of an account that was dropped and added again", () => {
    const following = new AccountWatchSet<string>()
    following.retarget("pool", set(), set(at(1)))
    following.takeChanges()
    following.write(at(1), vault(at(1), 5n))
    following.retarget("pool", set(at(1)), set())
    following.write(at(1), vault(at(1), 6n))
    following.retarget("other", set(), set(at(1)))
    assert.deepStrictEqual(following.takeChanges(), { watch: [], unwatch: [] })
    assert.deepStrictEqual(following.read(at(1)), vault(at(1), 6n))
  })

  it("forgets an unwatched account, and ignores writes to it", () => {
    const following = new AccountWatchSet<string>()
    following.retarget("pool", set(), set(at(1)))
    following.takeChanges()
    following.write(at(1), null)
    assert.isNull(following.read(at(1)))
    following.retarget("pool", set(at(1)), set())
    following.takeChanges()
    assert.deepStrictEqual(Array.from(following.write(at(1), vault(at(1), 1n))), [])
    assert.isUndefined(following.read(at(1)))
  })

  const Step = Schema.Struct({
    user: Schema.Literals(["a", "b", "c"]),
    needs: Schema.Array(Schema.Literals([1, 2, 3, 4])),
    take: Schema.Boolean
  })
  it.prop("watches exactly the accounts with a user, in any order of changes", [Schema.Array(Step)], ([steps]) => {
    const following = new AccountWatchSet<string>()
    const needs = new Map<string, ReadonlySet<Address>>()
    const watched = new Set<Address>()
    const take = () => {
      const { watch, unwatch } = following.takeChanges()
      assert.isTrue(watch.every((address) => !watched.has(address)))
      assert.isTrue(unwatch.every((address) => watched.has(address)))
      watch.forEach((address) => watched.add(address))
      unwatch.forEach((address) => watched.delete(address))
    }
    for (const step of steps) {
      const after = new Set(step.needs.map(at))
      following.retarget(step.user, needs.get(step.user) ?? set(), after)
      needs.set(step.user, after)
      if (step.take) {
        take()
      }
    }
    take()
    const needed = new Set(Array.from(needs.values()).flatMap((some) => Array.from(some)))
    assert.deepStrictEqual(Array.from(watched).toSorted(), Array.from(needed).toSorted())
  })
})

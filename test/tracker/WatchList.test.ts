import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { WatchList } from "../../src/tracker/WatchList.ts"
import { addressOf } from "../callouts/callouts.ts"

const [fern, moss, reed] = [addressOf(1), addressOf(2), addressOf(3)]

it.effect("is replaced whole, but for what was added since the question was asked", () =>
  Effect.gen(function* () {
    const list = yield* WatchList
    list.add(fern)
    const since = list.mark()
    list.add(moss)
    // The answer is from before moss was added, and after fern was removed.
    list.replace([reed], since)
    assert.isFalse(list.has(fern))
    assert.isTrue(list.has(moss))
    assert.deepStrictEqual(list.wallets(), new Set([reed, moss]))
    list.replace([], list.mark())
    assert.strictEqual(list.wallets().size, 0)
  }).pipe(Effect.provide(WatchList.layer))
)

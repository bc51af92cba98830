import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { WatchList } from "../../../src/wallets/tracker/WatchList.ts"
import { addressOf } from "../../callouts/callouts.ts"

const [fern, moss, reed] = [addressOf(1), addressOf(2), addressOf(3)]

it.effect("is replaced whole, except for wallets added since the query began", () =>
  Effect.gen(function* () {
    const list = yield* WatchList
    list.add({ wallet: fern, addedAtMs: 1000 })
    const since = list.mark()
    list.add({ wallet: moss, addedAtMs: 2345 })
    list.add({ wallet: moss, addedAtMs: 2999 })
    // The rows were read before moss was added, and after fern was removed.
    list.replace(
      [
        { wallet: reed, addedAtMs: 0 },
        { wallet: moss, addedAtMs: 1001 }
      ],
      since
    )
    assert.isFalse(list.has(fern))
    assert.isTrue(list.has(moss))
    assert.isTrue(list.has(reed))
    assert.deepStrictEqual(Array.from(list.sincesOf(moss)), [1000, 2000])
    assert.strictEqual(list.sincesOf(fern).size, 0)
    assert.strictEqual(list.size(), 2)
    list.replace([], list.mark())
    assert.strictEqual(list.size(), 0)
  }).pipe(Effect.provide(WatchList.layer))
)

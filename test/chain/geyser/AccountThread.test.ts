import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect } from "effect"
import type { Address } from "../../../src/domain/Address.ts"
import { AccountThread } from "../../../src/chain/geyser/AccountThread.ts"
import type { StreamEnd } from "../../../src/chain/geyser/geyserMessages.ts"
import type { StreamUpdate } from "../../../src/chain/geyser/readUpdate.ts"
import { makeBank } from "../../../src/simulator/chain/Bank.ts"
import { makeGeyserNode } from "../../../src/simulator/node/GeyserNode.ts"
import { healthyGeyser } from "../../../src/simulator/node/geyserSlots.ts"
import { at } from "../accounts/accounts.ts"

const CONFIRMED = 1
const BROKEN = "the address or the token of the endpoint cannot be used"

/** A Geyser that publishes one slot again and again. */
const publishing = Effect.gen(function* () {
  const block = makeBank({ seed: "none", startSlot: 100, startUnixMs: 0 }).newest()
  const geyser = yield* makeGeyserNode(() => ({ blocks: () => [block], newest: () => block }), healthyGeyser)
  yield* Effect.sync(() => geyser.publish(block)).pipe(
    Effect.andThen(Effect.sleep("5 millis")),
    Effect.forever,
    Effect.forkScoped
  )
  return geyser
})

/** Opens a stream, and waits for its end or for its first slot. `added` are the accounts that it follows. */
const opened = Effect.fnUntraced(function* (
  url: string,
  { added = [at(1)], token = null }: { readonly added?: ReadonlyArray<Address>; readonly token?: string | null } = {}
) {
  const { open } = yield* AccountThread
  const ended = yield* Deferred.make<StreamEnd>()
  const heard = yield* Deferred.make<StreamUpdate>()
  const stream = yield* Effect.acquireRelease(
    Effect.sync(() =>
      open({ host: "host", url, token }, null, {
        onUpdate: (update) => Deferred.doneUnsafe(heard, Effect.succeed(update)),
        onEnd: (end) => Deferred.doneUnsafe(ended, Effect.succeed(end))
      })
    ),
    ({ close }) => Effect.sync(close)
  )
  stream.send({ _tag: "follow", name: "r1", added, removed: [], commitment: CONFIRMED, from: null })
  return { ended: Deferred.await(ended), hasEnded: Deferred.isDone(ended), heard: Deferred.await(heard) }
})

describe("the thread of account streams", () => {
  it.live("ends the stream to an endpoint that it cannot use, and no other one, and does not tell the token", () =>
    Effect.gen(function* () {
      const { url } = yield* publishing
      const whole = yield* opened(url)
      yield* whole.heard
      assert.strictEqual((yield* (yield* opened("not an address")).ended).detail, BROKEN)
      assert.strictEqual((yield* (yield* opened(url, { token: "töken" })).ended).detail, BROKEN)
      assert.include((yield* (yield* opened(url)).heard).filters, "r1")
      assert.isFalse(yield* whole.hasEnded)
    }).pipe(Effect.provide(AccountThread.layer))
  )

  it.live("ends all its streams when it ends, and the next stream begins another one", () =>
    Effect.gen(function* () {
      const { url } = yield* publishing
      const whole = yield* opened(url)
      assert.include((yield* whole.heard).filters, "r1")
      // Not a list: the thread does not expect that.
      const broken = yield* opened(url, { added: "none" as never })
      assert.match((yield* broken.ended).detail, /^the thread ended/u)
      assert.match((yield* whole.ended).detail, /^the thread ended/u)
      assert.include((yield* (yield* opened(url)).heard).filters, "r1")
    }).pipe(Effect.provide(AccountThread.layer))
  )
})

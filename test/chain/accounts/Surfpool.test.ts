import { NodeHttpClient, NodeSocket } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, References } from "effect"
import { ChainFeed } from "../../../src/chain/ChainFeed.ts"
import * as ChainFeedRpc from "../../../src/chain/accounts/ChainFeedRpc.ts"
import { hasSurfnet, newAddress, surfnet } from "../../support/surfnet.ts"
import { OWNER, readFeed, until } from "./accounts.ts"

describe.skipIf(!hasSurfnet)("an independent Solana runtime (needs the optional package surfpool)", () => {
  it.live("is searched, watched and followed", () =>
    Effect.gen(function* () {
      const node = yield* surfnet
      const here = newAddress()
      const absent = newAddress()
      node.setAccount(here, 1_000_000, [1, 2, 3, 4], OWNER)

      yield* Effect.gen(function* () {
        const feed = yield* ChainFeed
        const reader = yield* readFeed(feed)

        const found = yield* feed.accountsOf({
          programId: OWNER,
          dataSize: 4,
          matches: [{ offset: 1, bytes: Uint8Array.of(2, 3) }]
        })
        assert.deepStrictEqual(Array.from(found.accounts.keys()), [here])

        yield* feed.watch([here, absent])
        yield* until("both are emitted", () => reader.known.size === 2)
        assert.deepStrictEqual(reader.bytes(here), [1, 2, 3, 4])
        assert.strictEqual(reader.known.get(here)?.lamports, 1_000_000n)
        assert.strictEqual(reader.known.get(here)?.owner, OWNER)
        assert.isNull(reader.known.get(absent))

        for (const byte of [7, 8, 9]) {
          node.setAccount(here, 2_000_000, [byte, 0, 0], OWNER)
          yield* until("the change is emitted", () => reader.bytes(here)?.[0] === byte)
        }
        assert.strictEqual(reader.known.get(here)?.lamports, 2_000_000n)

        node.setAccount(absent, 5, [5], OWNER)
        yield* until("the new account is emitted", () => reader.bytes(absent)?.[0] === 5)

        yield* until("the feed is live", () => feed.freshness().state === "live")
        const { slot } = feed.freshness()
        yield* until("slots go on", () => feed.freshness().slot > slot)
        assert.isAbove(feed.clock().unixTimestamp, 1_600_000_000)
      }).pipe(
        Effect.provide(
          ChainFeedRpc.layer({ rpcUrl: node.rpcUrl, wsUrl: node.wsUrl }).pipe(
            Layer.provide([
              NodeHttpClient.layerUndici,
              NodeSocket.layerWebSocketConstructor,
              Layer.succeed(References.MinimumLogLevel, "None")
            ])
          )
        )
      )
    })
  )
})

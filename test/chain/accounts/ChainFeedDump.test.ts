import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import type { OnChainAccount } from "../../../src/domain/OnChainAccount.ts"
import { Address } from "../../../src/domain/Address.ts"
import { ChainFeed } from "../../../src/chain/ChainFeed.ts"
import * as ChainFeedDump from "../../../src/chain/accounts/ChainFeedDump.ts"
import { CLOCK } from "../../../src/chain/clockSysvar.ts"
import { at, holding, OWNER, readFeed, until } from "./accounts.ts"
import { chainFeedContract } from "./chainFeedContract.ts"

const folderOf = (files: Record<string, string>) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const folder = mkdtempSync(join(tmpdir(), "fathom-dump-"))
      for (const [name, text] of Object.entries(files)) {
        writeFileSync(join(folder, name), text)
      }
      return folder
    }),
    (folder) => Effect.sync(() => rmSync(folder, { recursive: true }))
  )

const dumpOf = (accounts: ReadonlyArray<OnChainAccount>, rest: object = {}) =>
  JSON.stringify({
    dex: "any",
    accounts: accounts.map(({ address, owner, lamports, data }) => ({
      pubkey: address,
      owner,
      lamports: Number(lamports),
      dataBase64: Buffer.from(data).toString("base64")
    })),
    ...rest
  })

const feedOf = Effect.fnUntraced(function* (files: Record<string, string>) {
  return ChainFeedDump.layer(yield* folderOf(files))
})

const withFeed = <A, E, R>(
  files: Record<string, string>,
  body: (feed: ChainFeed["Service"]) => Effect.Effect<A, E, R>
) => Effect.flatMap(feedOf(files), (layer) => ChainFeed.use(body).pipe(Effect.provide(layer)))

const refusalOf = (files: Record<string, string>) =>
  Effect.flatMap(feedOf(files), (layer) => Effect.flip(ChainFeed.pipe(Effect.provide(layer))))

chainFeedContract("ChainFeedDump", (accounts) =>
  feedOf({
    "market.json": dumpOf(
      accounts.filter(({ address }) => address !== CLOCK),
      { slot: 100, epoch: 7, unixTimestamp: 1_700_000_000 }
    )
  })
)

describe("a recorded market", () => {
  it.live(
    "takes the state with the highest slot when files disagree, and the first file's state when slots are equal",
    () =>
      withFeed(
        {
          "a.json": dumpOf([holding(at(1), [1]), holding(at(2), [1])], { slot: 10 }),
          "b.json": dumpOf([holding(at(1), [2]), holding(at(2), [2])], { slot: 12 }),
          "c.json": dumpOf([holding(at(1), [3]), holding(at(3), [3])], { slot: 12 }),
          "d.json": dumpOf([holding(at(3), [4])])
        },
        Effect.fnUntraced(function* (feed) {
          const reader = yield* readFeed(feed)
          yield* feed.watch([at(1), at(2), at(3)])
          yield* until("all are emitted", () => reader.known.size === 3)

          assert.deepStrictEqual(
            [at(1), at(2), at(3)].map((address) => reader.bytes(address)),
            [[2], [2], [3]]
          )
          assert.strictEqual(reader.known.get(at(1))?.slot, 12)
        })
      )
  )

  it.live("has the time of its newest file, and derives what that file does not state", () =>
    Effect.gen(function* () {
      const older = dumpOf([], { slot: 432_000, epoch: 9, unixTimestamp: 500 })
      const clock = (newer: object) =>
        withFeed({ "a.json": older, "b.json": dumpOf([], newer) }, (feed) => Effect.sync(() => feed.clock()))

      assert.deepStrictEqual(yield* clock({ slot: 864_001, epoch: 3, unixTimestamp: 400 }), {
        slot: 864_001,
        epoch: 3,
        unixTimestamp: 400
      })
      // After 432,001 slots of 0.4 seconds.
      assert.deepStrictEqual(yield* clock({ slot: 864_001 }), { slot: 864_001, epoch: 2, unixTimestamp: 173_300 })
    })
  )

  it.live("is a recording, heard when it was read", () =>
    withFeed({ "a.json": dumpOf([], { slot: 5 }) }, (feed) =>
      Effect.sync(() => {
        const { heardAtMs, slot, state } = feed.freshness()
        assert.deepStrictEqual({ slot, state }, { slot: 5, state: "recorded" })
        assert.isNumber(heardAtMs)
      })
    )
  )

  it.live("keeps lamports that a JSON number would round", () =>
    withFeed(
      {
        "a.json": `{"accounts":[{"pubkey":"${at(1)}","owner":"${OWNER}","lamports":9007199254740993,"dataBase64":""}]}`
      },
      Effect.fnUntraced(function* (feed) {
        const { accounts } = yield* feed.accountsOf({ programId: OWNER, matches: [] })

        assert.strictEqual(accounts.get(at(1))?.lamports, 9_007_199_254_740_993n)
      })
    )
  )

  it.live("ignores files of other kinds", () =>
    withFeed({ "a.json": dumpOf([]), "README.md": "not a dump" }, (feed) =>
      Effect.sync(() => assert.strictEqual(feed.clock().slot, 0))
    )
  )

  it.live.each([
    { what: "is not JSON", text: "{" },
    { what: "holds no list of accounts", text: "{}" },
    { what: "spells an address wrong", text: dumpOf([holding(at(1), [1])]).replace(at(1), "x") },
    { what: "spells data wrong", text: dumpOf([holding(at(1), [1])]).replace("AQ==", "A*==") },
    { what: "names a slot that is none", text: dumpOf([], { slot: -1 }) }
  ])("refuses to start when a file $what, and names the file", ({ text }) =>
    Effect.gen(function* () {
      const refusal = yield* refusalOf({ "a.json": dumpOf([]), "b.json": text })

      assert.strictEqual(refusal._tag, "DumpUnreadable")
      assert.match(refusal.file, /b\.json$/u)
    })
  )

  it.live("refuses to start without a folder, or with one that has no dump", () =>
    Effect.gen(function* () {
      const missing = yield* Effect.flip(ChainFeed.pipe(Effect.provide(ChainFeedDump.layer("/nowhere/at/all"))))
      const empty = yield* refusalOf({})

      assert.strictEqual(missing.file, "/nowhere/at/all")
      assert.strictEqual(empty._tag, "DumpUnreadable")
    })
  )
})

const shared = fileURLToPath(new URL("../../../../shared/data/amm", import.meta.url))

// The recordings are not part of the project. Without them this suite is skipped.
describe.skipIf(!existsSync(shared))("the collected recordings", () => {
  it.live("make one market", () =>
    Effect.gen(function* () {
      const feed = yield* ChainFeed
      const pools = yield* feed.accountsOf({
        programId: Address.make("CAMMCzo5YL8w4VFF8KVHrK22GGUsp5VTaW7grrKgrWqK"),
        dataSize: 1544,
        matches: []
      })
      const pool = pools.accounts.get(Address.make("3ucNos4NbumPLZNWztqGHNFFgkHeRMBQAVemeeomsUxv"))

      // Seventeen files hold a state of this pool. This is the slot of the newest.
      assert.strictEqual(pool?.slot, 415_834_033)
      assert.strictEqual(feed.freshness().state, "recorded")
    }).pipe(Effect.provide(ChainFeedDump.layer(shared)))
  )
})

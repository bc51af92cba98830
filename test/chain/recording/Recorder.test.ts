import { NodeHttpClient, NodeSocket } from "@effect/platform-node"
import { assert, it } from "@effect/vitest"
import { ConfigProvider, Duration, Effect, Layer, Schedule } from "effect"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { zstdDecompressSync } from "node:zlib"
import * as ChainFeedRpc from "../../../src/chain/accounts/ChainFeedRpc.ts"
import { ChainFeed } from "../../../src/chain/ChainFeed.ts"
import { readRecordFile, recordFilesOf } from "../../../src/chain/recording/readRecording.ts"
import type { Entry } from "../../../src/chain/recording/recordEntry.ts"
import * as Recorder from "../../../src/chain/recording/Recorder.ts"
import * as Monitor from "../../../src/operations/SourceMonitor.ts"
import { Simulator } from "../../../src/simulator/Simulator.ts"
import { readFeed, until } from "../accounts/accounts.ts"

const sockets = Layer.mergeAll(NodeHttpClient.layerUndici, NodeSocket.layerWebSocketConstructor)
const simulated = Simulator.layer({ seed: "recorder", speed: 0, swapsPerSecond: 20, startUnixMs: 1_790_000_000_000 })

const folderOf = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "fathom-recorder-"))),
  (folder) => Effect.sync(() => rmSync(folder, { recursive: true }))
)

/** The account feed of a simulated node, recorded into this folder. */
const recordedFeed = (folder: string, { rpcUrl, wsUrl }: Simulator["Service"]) =>
  Recorder.layer({ rpcUrl, blocks: { poll: Duration.millis(10) } }).pipe(
    Layer.provide(ChainFeedRpc.layer({ rpcUrl, wsUrl })),
    Layer.provide(sockets),
    Layer.provide(ConfigProvider.layer(ConfigProvider.fromEnv({ env: { RECORD_DIR: folder } })))
  )

const entriesIn = Effect.fnUntraced(function* (folder: string) {
  const read = yield* Effect.forEach(yield* recordFilesOf(folder), (file) => readRecordFile(folder, file))
  return read.flatMap((file): ReadonlyArray<Entry> => (file === null ? [] : Array.from(file.entries)))
})

const blocksOf = (entries: ReadonlyArray<Entry>) =>
  entries.flatMap((entry) => (entry._tag === "Block" ? entry.block : []))

/** What the recording holds once `isWhole` holds for it. */
const awaited = (folder: string, isWhole: (entries: ReadonlyArray<Entry>) => boolean) =>
  entriesIn(folder).pipe(
    Effect.orElseSucceed((): ReadonlyArray<Entry> => []),
    Effect.repeat({ schedule: Schedule.spaced("50 millis"), until: isWhole }),
    Effect.timeout("30 seconds")
  )

it.live("keeps every block of the node as it is, and the last state of what is followed", () =>
  Effect.gen(function* () {
    const folder = yield* folderOf
    const simulator = yield* Simulator
    yield* Effect.gen(function* () {
      const feed = yield* ChainFeed
      const reader = yield* readFeed(feed)
      const pools = simulator.pools().map(({ address }) => address)
      yield* feed.watch(pools)
      yield* until("the pools are read", () => reader.known.size >= pools.length)
      // The feed hears of the chain with its next slot.
      yield* simulator.advance(1)
      yield* awaited(folder, (entries) => blocksOf(entries).length > 0)
      yield* simulator.advance(20)
      const blocks = blocksOf(yield* awaited(folder, (entries) => blocksOf(entries).length > 20))
      assert.deepStrictEqual(
        blocks.slice(1).map(({ parentSlot }) => parentSlot),
        blocks.slice(0, -1).map(({ slot }) => slot)
      )
      const { slot = 0, json = new Uint8Array() } = blocks.at(-1) ?? {}
      const asked = yield* Effect.promise(() =>
        fetch(simulator.rpcUrl, {
          method: "POST",
          headers: { "content-type": "application/json" },
          body: JSON.stringify({
            jsonrpc: "2.0",
            id: 1,
            method: "getBlock",
            params: [slot, { encoding: "json", maxSupportedTransactionVersion: 0, rewards: false }]
          })
        }).then((answer) => answer.json())
      )
      const { result } = asked as { readonly result: unknown }
      assert.deepStrictEqual(JSON.parse(zstdDecompressSync(json).toString()), result)

      const isLast = (entries: ReadonlyArray<Entry>) =>
        entries.some((entry) => entry._tag === "Accounts" && (entry.end?.slot ?? 0) >= slot)
      const state = new Map<string, string>()
      for (const entry of yield* awaited(folder, isLast)) {
        for (const { event } of entry._tag === "Accounts" ? entry.events : []) {
          const { accounts } = event._tag === "Writes" ? event : event.snapshot
          accounts.forEach((account, address) => state.set(address, Buffer.from(account?.data ?? []).toString("hex")))
        }
      }
      assert.sameMembers([...state.keys()], pools)
      for (const address of pools) {
        assert.strictEqual(state.get(address), Buffer.from(reader.known.get(address)?.data ?? []).toString("hex"))
      }
    }).pipe(Effect.provide(recordedFeed(folder, simulator)))
  }).pipe(Effect.provide(simulated))
)

it.live("a folder that cannot be written is named, and the market goes on", () =>
  Effect.gen(function* () {
    const folder = yield* folderOf
    const file = join(folder, "a file")
    writeFileSync(file, "")
    const simulator = yield* Simulator
    yield* Effect.gen(function* () {
      const feed = yield* ChainFeed
      const reader = yield* readFeed(feed)
      const pools = simulator.pools().map(({ address }) => address)
      yield* feed.watch(pools)
      const monitor = yield* Monitor.SourceMonitor
      yield* until("the pools are read", () => reader.known.size >= pools.length)
      yield* simulator.advance(1)
      yield* until("the failure is known", () => monitor.stateOf("recording", 0)?.advice?.includes(file) === true)
      assert.include(monitor.history("recording", "unavailable", 0).lastError?.detail ?? "", "ENOTDIR")
      const before = reader.events.length
      yield* simulator.advance(10)
      yield* until("writes arrive", () => reader.events.length > before)
    }).pipe(Effect.provide(recordedFeed(join(file, "recording"), simulator)), Effect.provide(Monitor.layer))
  }).pipe(Effect.provide(simulated))
)

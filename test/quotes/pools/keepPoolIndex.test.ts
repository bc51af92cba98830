import { assert, describe, it } from "@effect/vitest"
import { PgClient } from "@effect/sql-pg"
import { Effect, Layer, Queue, Schedule } from "effect"
import { addressToBytes } from "../../../src/domain/Address.ts"
import { ChainUnavailable } from "../../../src/chain/ChainUnavailable.ts"
import { ReplayUnavailable } from "../../../src/chain/geyser/ProgramWrites.ts"
import { at } from "../toyChain.ts"
import * as Proxy from "../../support/Proxy.ts"
import { until } from "../../support/sse.ts"
import * as TestDatabase from "../../support/TestDatabase.ts"
import { programId, StreamedChain } from "./indexScene.ts"
import { keeper, lost, refused, shows, stream, TOKEN, TOKEN_2 } from "./keeperScene.ts"

/** Waits until the server has heard nothing from the leader for longer than it waits for one that reads blocks. */
const silentLeader = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  yield* sql`
    select from pg_stat_activity
    where application_name = 'fathom-leader' and datname = current_database()
      and state_change > clock_timestamp() - interval '2.5 seconds'
  `.pipe(Effect.repeat({ until: (rows) => rows.length === 0, schedule: Schedule.spaced("50 millis") }))
})

describe.runIf(TestDatabase.isAvailable)("keeping the index of pools", { concurrent: true }, () => {
  it.live("reads a program once, and knows of pools that were created during the read and afterwards", () =>
    Effect.gen(function* () {
      const chain = new StreamedChain()
      chain.pools.set(at(20), TOKEN)
      const kept = yield* keeper(chain, yield* TestDatabase.create)
      const opened = yield* stream(chain)
      assert.isNull(opened.from)
      assert.deepStrictEqual(opened.queries, [{ programId, matches: [] }])
      // Before the first slot it is unknown from which slot the stream has every write.
      assert.strictEqual(chain.queries.length, 0)
      assert.deepStrictEqual([kept.state()?.status, kept.state()?.reason], ["unavailable", "source_gap"])
      chain.duringScan = Effect.sync(() => chain.write(opened, 101, at(21), TOKEN))
      opened.listener.onSlot(100)
      yield* shows(kept, TOKEN, [at(20), at(21)])
      assert.strictEqual(chain.queries[0]?.minSlot, 100)
      const short = { query: 0, slot: 102, address: addressToBytes(at(23)), lamports: 1n, data: new Uint8Array(31) }
      opened.listener.onWrite(short)
      chain.write(opened, 102, at(22), TOKEN_2)
      opened.listener.onSlot(102)
      yield* shows(kept, TOKEN_2, [at(22)], 102)
      // An account that ends before its mints gives none.
      assert.deepStrictEqual(yield* kept.pools(at(0)), [])
      assert.strictEqual(chain.queries.length, 1)
      yield* until("the slot is stored", () => kept.state()?.status === "known")
      assert.deepInclude(kept.state(), { share: 1, slot: 102 })
    }).pipe(Effect.scoped)
  )

  it.live("resumes at the stored slot after a restart, without another snapshot", () =>
    Effect.gen(function* () {
      const chain = new StreamedChain()
      chain.pools.set(at(20), TOKEN)
      const address = yield* TestDatabase.create
      yield* Effect.gen(function* () {
        const kept = yield* keeper(chain, address)
        ;(yield* stream(chain)).listener.onSlot(100)
        yield* shows(kept, TOKEN, [at(20)], 100)
      }).pipe(Effect.scoped)
      const kept = yield* keeper(chain, address)
      const opened = yield* stream(chain)
      assert.strictEqual(opened.from, 68)
      opened.listener.onSlot(68)
      chain.write(opened, 130, at(21), TOKEN)
      opened.listener.onSlot(130)
      yield* shows(kept, TOKEN, [at(20), at(21)], 130)
      assert.strictEqual(chain.queries.length, 1)
    }).pipe(Effect.scoped)
  )

  it.live(
    "reads programs again after a gap that the stream cannot repeat, is unknown meanwhile, and drops closed pools",
    () =>
      Effect.gen(function* () {
        const chain = new StreamedChain()
        chain.pools.set(at(20), TOKEN).set(at(21), TOKEN)
        const kept = yield* keeper(chain, yield* TestDatabase.create)
        const first = yield* stream(chain)
        first.listener.onSlot(100)
        yield* shows(kept, TOKEN, [at(20), at(21)], 100)
        yield* first.end(lost)
        const second = yield* stream(chain)
        assert.strictEqual(second.from, 68)
        yield* second.end(new ReplayUnavailable({ detail: "too old" }))
        const third = yield* stream(chain)
        assert.isNull(third.from)
        assert.isNull(yield* kept.pools(TOKEN))
        chain.pools.delete(at(20))
        third.listener.onSlot(5000)
        yield* shows(kept, TOKEN, [at(21)], 5000)
        assert.strictEqual(chain.queries.length, 2)
      }).pipe(Effect.scoped)
  )

  it.live("ignores a snapshot that breaks, and names the setting that helps when one is refused", () =>
    Effect.gen(function* () {
      const chain = new StreamedChain()
      chain.pools.set(at(20), TOKEN).set(at(21), TOKEN)
      const detail = "getProgramAccounts: -32010 excluded"
      chain.scanFailure = new ChainUnavailable({ reason: "invalid", detail, rpcCode: -32010, isRefused: true })
      const kept = yield* keeper(chain, yield* TestDatabase.create)
      const opened = yield* stream(chain)
      opened.listener.onSlot(100)
      yield* until("the refusal is shown", () => kept.state()?.advice !== undefined)
      assert.match(kept.state()?.advice ?? "", /for toy: set SOLANA_RPC_URL .* or POOL_INDEX=off/u)
      assert.isNull(yield* kept.pools(TOKEN))
      yield* opened.end(lost)
      yield* stream(chain)
      assert.strictEqual(chain.queries.length, 1)
    }).pipe(Effect.scoped)
  )

  it.live("names the setting that helps when the stream is refused, until one starts", () =>
    Effect.gen(function* () {
      const chain = new StreamedChain()
      const kept = yield* keeper(chain, yield* TestDatabase.create)
      yield* (yield* stream(chain)).end(refused)
      const opened = yield* stream(chain)
      assert.match(kept.state()?.advice ?? "", /Set GEYSER_URL to one that does, or POOL_INDEX=off/u)
      opened.listener.onSlot(100)
      yield* shows(kept, TOKEN, [])
      assert.isUndefined(kept.state()?.advice)
    }).pipe(Effect.scoped)
  )

  it.live("does not mistake a silent stream or an unreachable endpoint for a refusal", () =>
    Effect.gen(function* () {
      const chain = new StreamedChain()
      const kept = yield* keeper(chain, yield* TestDatabase.create)
      let opened = yield* stream(chain)
      for (const failure of [lost, new ChainUnavailable({ reason: "timeout", detail: "no slot for 30000 ms" })]) {
        yield* opened.end(failure)
        opened = yield* stream(chain)
        assert.deepInclude(kept.state(), { status: "unavailable", reason: "source_gap" })
        assert.isUndefined(kept.state()?.advice)
      }
    }).pipe(Effect.scoped)
  )

  it.live("runs in one process of a database", () =>
    Effect.gen(function* () {
      const [first, second] = [new StreamedChain(), new StreamedChain()]
      first.pools.set(at(20), TOKEN)
      const address = yield* TestDatabase.create
      yield* Effect.gen(function* () {
        const kept = yield* keeper(first, address)
        const opened = yield* stream(first)
        const other = yield* keeper(second, address)
        opened.listener.onSlot(100)
        yield* shows(kept, TOKEN, [at(20)], 100)
        yield* shows(other, TOKEN, [at(20)], 100)
        assert.strictEqual(yield* Queue.size(second.opened), 0)
        assert.isNull(other.state())
      }).pipe(Effect.scoped)
      yield* keeper(second, address)
      assert.strictEqual((yield* stream(second)).from, 68)
      assert.strictEqual(second.queries.length, 0)
    }).pipe(Effect.scoped)
  )

  it.live("survives a pause of its process, with its stream and without another snapshot", () =>
    Effect.gen(function* () {
      const chain = new StreamedChain()
      chain.pools.set(at(20), TOKEN)
      const address = yield* TestDatabase.create
      const network = yield* Proxy.make(address)
      const kept = yield* keeper(chain, network.address)
      const opened = yield* stream(chain)
      opened.listener.onSlot(100)
      yield* shows(kept, TOKEN, [at(20)], 100)
      yield* network.freeze
      yield* silentLeader.pipe(Effect.provide(Layer.fresh(TestDatabase.connect(address))))
      yield* network.thaw
      chain.write(opened, 101, at(21), TOKEN)
      opened.listener.onSlot(101)
      yield* shows(kept, TOKEN, [at(20), at(21)], 101)
      assert.strictEqual(yield* Queue.size(chain.opened), 0)
      assert.strictEqual(chain.queries.length, 1)
    }).pipe(Effect.scoped)
  )

  it.live("starts over after another process has claimed it", () =>
    Effect.gen(function* () {
      const chain = new StreamedChain()
      chain.pools.set(at(20), TOKEN)
      const kept = yield* keeper(chain, yield* TestDatabase.create)
      ;(yield* stream(chain)).listener.onSlot(100)
      yield* shows(kept, TOKEN, [at(20)], 100)
      const other = yield* kept.claim
      const opened = yield* stream(chain)
      assert.strictEqual(opened.from, 68)
      assert.strictEqual((yield* Effect.flip(other.lose))._tag, "TermEnded")
      opened.listener.onSlot(68)
      chain.write(opened, 101, at(21), TOKEN)
      opened.listener.onSlot(101)
      yield* shows(kept, TOKEN, [at(20), at(21)], 101)
      assert.strictEqual(chain.queries.length, 1)
    }).pipe(Effect.scoped)
  )
})

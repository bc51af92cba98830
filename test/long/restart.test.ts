import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { spawn } from "node:child_process"
import { createInterface } from "node:readline"
import * as TestDatabase from "../support/TestDatabase.ts"
import { seededRandom } from "../market/tape/tape.ts"

/** Processes at the same time, chains that each of them runs, and how often each of them is killed. */
const PROCESSES = 2
const CHAINS_EACH = 9
const KILLS_EACH = 3
const TRADES_A_BLOCK = 3
const HOURS_AGO = 6 * 3_600_000

/** What the tape of a chain printed before its process was killed. */
interface TapeReport {
  readonly stored: Array<number>
  /** The newest slot and the number of trades on the tape, once everything stored was on it. */
  readonly tape: Array<readonly [slot: number, trades: number]>
}

const script = new URL("../support/tradeWriter.ts", import.meta.url).pathname

/** Runs the tapes of some chains until some time after each has printed these words, then kills the process. */
const killed = (
  address: TestDatabase.TestAddress,
  chains: ReadonlyArray<string>,
  words: ReadonlyArray<string>,
  { afterMs, startMs }: { readonly afterMs: number; readonly startMs: number }
) =>
  Effect.callback<ReadonlyMap<string, TapeReport>>((resume) => {
    const reports = new Map(chains.map((genesis): [string, TapeReport] => [genesis, { stored: [], tape: [] }]))
    const silent = new Set(chains.flatMap((genesis) => words.map((word) => `${genesis} ${word}`)))
    const child = spawn(process.execPath, [script, address.host, address.database, String(startMs), ...chains], {
      stdio: ["ignore", "pipe", "inherit"]
    })
    createInterface(child.stdout).on("line", (line) => {
      const [genesis = "", word, slot, trades] = line.split(" ")
      if (word === "tape") {
        reports.get(genesis)?.tape.push([Number(slot), Number(trades)])
      } else {
        reports.get(genesis)?.stored.push(Number(slot))
      }
      if (silent.delete(`${genesis} ${word}`) && silent.size === 0) {
        setTimeout(() => child.kill("SIGKILL"), afterMs)
      }
    })
    child.once("close", () => resume(Effect.succeed(reports)))
    return Effect.sync(() => child.kill("SIGKILL"))
  })

const Slots = Schema.Array(Schema.Struct({ slot: Schema.Number, trades: Schema.Number, places: Schema.Number }))
const decodeSlots = Schema.decodeUnknownEffect(Slots)

describe.runIf(TestDatabase.isAvailable)("a tape that is killed again and again", () => {
  it.live(
    "loses no acknowledged trade and doubles none, in the store or in memory",
    () =>
      Effect.gen(function* () {
        const address = yield* TestDatabase.create
        const sql = Context.get(yield* Layer.build(TestDatabase.connect(address)), SqlClient.SqlClient)
        const startMs = Date.now() - HOURS_AGO
        const roll = seededRandom(7)

        const isWhole = Effect.fnUntraced(function* (genesis: string, acknowledged: number) {
          const rows = yield* sql`
            select trades.slot, count(*)::int as trades, count(distinct place)::int as places
            from trades join chains on chain = id where genesis = ${genesis} group by 1 order by 1
          `.pipe(Effect.flatMap((found) => decodeSlots(found)))
          assert.isAtLeast(rows.length, acknowledged)
          assert.deepStrictEqual(
            rows,
            Array.from(rows, (_, i) => ({ slot: i + 1, trades: TRADES_A_BLOCK, places: TRADES_A_BLOCK }))
          )
        })

        const life = Effect.fnUntraced(function* (process: number) {
          const chains = Array.from({ length: CHAINS_EACH }, (_, i) => `chain-${process}-${i}`)
          const acknowledged = new Map<string, number>()
          for (let kill = 0; kill < KILLS_EACH; kill++) {
            // The last process has read everything stored into memory. Earlier ones may be killed while they read.
            const isLast = kill === KILLS_EACH - 1
            const words = isLast ? ["stored", "tape"] : ["stored"]
            const reports = yield* killed(address, chains, words, { startMs, afterMs: Math.floor(roll() * 120) })
            for (const [genesis, { stored, tape }] of reports) {
              const before = acknowledged.get(genesis) ?? 0
              assert.isAtLeast(tape.length, isLast ? 1 : 0)
              for (const [slot, trades] of tape) {
                assert.isAbove(slot, before)
                assert.strictEqual(trades, slot * TRADES_A_BLOCK, `${genesis} ${kill}: what the tape held`)
              }
              acknowledged.set(genesis, Math.max(before, ...stored))
            }
          }
          yield* Effect.forEach(acknowledged, ([genesis, slot]) => isWhole(genesis, slot), { discard: true })
        })

        yield* Effect.forEach(
          Array.from({ length: PROCESSES }, (_, i) => i),
          life,
          { concurrency: "unbounded" }
        )
      }),
    { timeout: 240_000 }
  )
})
